//! Tokens.

use super::Keyword;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A reserved word.
    Keyword(Keyword),
    /// Any other word, also `#temp` and `$action`.
    Word,
    /// `[x]` or `"x"`; the text has the delimiters, `doubled` says whether one is doubled inside.
    QuotedName {
        /// A closing delimiter is doubled inside.
        doubled: bool,
    },
    /// `%%x%%`, a column that no table declares.
    VirtualColumn,
    /// `@x`
    Variable,
    /// `@@x`
    Global,
    /// `'x'` or `N'x'`, and `"x"` when QUOTED_IDENTIFIER is OFF; the text has prefix and quotes.
    Text {
        /// `N'...'`
        national: bool,
        /// A quote is doubled inside.
        doubled: bool,
        /// A backslash ends a line inside: neither of them is part of the text.
        continued: bool,
    },
    /// Digits alone.
    Integer,
    /// Digits with a point.
    Decimal,
    /// A number with an exponent.
    Float,
    /// `$1.5`
    Money,
    /// `0x1F`
    Binary,
    /// An operator or a mark.
    Symbol(Symbol),
    /// What the lexer could not read; the stream ends here.
    Bad,
    /// The end of the text.
    End,
}

/// Operators and marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symbol {
    /// `(`
    Open,
    /// `)`
    Close,
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// `.`
    Dot,
    /// `:`
    Colon,
    /// `::`
    DoubleColon,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Star,
    /// `/`
    Slash,
    /// `%`
    Percent,
    /// `&`
    Ampersand,
    /// `|`
    Bar,
    /// `^`
    Caret,
    /// `~`
    Tilde,
    /// `!`
    Bang,
    /// `||`
    DoubleBar,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `=`
    Equal,
    /// `<`
    Less,
    /// `>`
    Greater,
    /// `<=`
    LessEqual,
    /// `>=`
    GreaterEqual,
    /// `<>`, `!=`
    NotEqual,
    /// `!<`
    NotLess,
    /// `!>`
    NotGreater,
    /// `+=`
    PlusEqual,
    /// `-=`
    MinusEqual,
    /// `*=`
    StarEqual,
    /// `/=`
    SlashEqual,
    /// `%=`
    PercentEqual,
    /// `&=`
    AmpersandEqual,
    /// `|=`
    BarEqual,
    /// `^=`
    CaretEqual,
    /// `||=`
    DoubleBarEqual,
    /// `{`
    OpenBrace,
    /// `}`
    CloseBrace,
    /// A character that belongs to nothing.
    Stray,
}

/// A token: its kind and its place. The text is the batch's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    /// The offset of its first byte.
    pub(crate) start: u32,
    /// The offset behind its last byte.
    pub(crate) end: u32,
    /// The line of its first byte, counted from 1.
    pub(crate) line: u32,
    /// What it is.
    pub(crate) kind: TokenKind,
}
