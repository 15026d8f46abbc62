use super::*;
use crate::tree::Literal;

fn kinds(text: &str) -> Vec<TokenKind> {
    let read = lex(text, true);
    assert!(read.error.is_none(), "{:?}", read.error);
    read.tokens.iter().map(|token| token.kind).collect()
}

fn pieces(text: &str) -> Vec<&str> {
    lex(text, true).tokens.iter().map(|token| &text[token.start as usize..token.end as usize]).collect()
}

fn number(text: &str) -> Literal {
    let kind = kinds(text)[0];
    assert_eq!(kinds(text).len(), 2, "{text} is one token");
    value(kind, text, 1).expect("a number")
}

#[test]
fn names_of_all_sorts() {
    assert_eq!(
        pieces("abc _x #t ##g [a]]b] \"c\"\"d\" größe $action a$b@c#1"),
        ["abc", "_x", "#t", "##g", "[a]]b]", "\"c\"\"d\"", "größe", "$action", "a$b@c#1", ""]
    );
    assert_eq!(
        kinds("[a]]b] [a] @x @@y @@RowCount select Select")[..],
        [
            TokenKind::QuotedName { doubled: true },
            TokenKind::QuotedName { doubled: false },
            TokenKind::Variable,
            TokenKind::Variable,
            TokenKind::Global,
            TokenKind::Keyword(Keyword::Select),
            TokenKind::Keyword(Keyword::Select),
            TokenKind::End,
        ]
    );
}

#[test]
fn texts_and_their_quotes() {
    assert_eq!(pieces("'a''b' N'c' n'' ''''"), ["'a''b'", "N'c'", "n''", "''''", ""]);
    assert_eq!(
        kinds("'a''b' N'c'")[..2],
        [
            TokenKind::Text { national: false, doubled: true, continued: false },
            TokenKind::Text { national: true, doubled: false, continued: false },
        ]
    );
    assert_eq!(undouble("a''b''''c", '\''), "a'b''c");
}

#[test]
fn a_backslash_joins_lines() {
    assert_eq!(kinds("'a\\\nb'")[0], TokenKind::Text { national: false, doubled: false, continued: true });
    assert_eq!(join_lines("a\\\nb\\\r\n\\c\\"), "ab\\c\\");
    assert_eq!(number("0xAB\\\nC\\\r\nD"), Literal::Binary(vec![0xAB, 0xCD]));
    assert_eq!(lex("0xA\\\nB 'c\\\nd' x", true).tokens[2].line, 3);
}

#[test]
fn numbers_and_their_values() {
    assert_eq!(number("2147483647"), Literal::Int(i32::MAX));
    assert_eq!(number("2147483648"), Literal::Decimal("2147483648".into()));
    assert_eq!(number("000000000000000000000000000000000000000000000000007"), Literal::Int(7));
    assert_eq!(number("000000000000000000000000000000000000000000000000"), Literal::Int(0));
    assert_eq!(number("1.50"), Literal::Decimal("1.50".into()));
    assert_eq!(number("007.5"), Literal::Decimal("7.5".into()));
    assert_eq!(number(".5"), Literal::Decimal("0.5".into()));
    assert_eq!(number("5."), Literal::Decimal("5.".into()));
    assert_eq!(number("1e3"), Literal::Float(1000.0));
    assert_eq!(number("1.5E-3"), Literal::Float(0.0015));
    assert_eq!(number("1e"), Literal::Float(1.0));
    assert_eq!(number("1e+"), Literal::Float(1.0));
    assert_eq!(number("$1.5"), Literal::Money(15_000));
    assert_eq!(number("$-2.00005"), Literal::Money(-20_001));
    assert_eq!(number("$922337203685477.5807"), Literal::Money(i64::MAX));
    assert_eq!(number("$"), Literal::Money(0));
    assert_eq!(number("€3"), Literal::Money(30_000));
    assert_eq!(number("0xABC"), Literal::Binary(vec![0x0A, 0xBC]));
    assert_eq!(number("0x"), Literal::Binary(vec![]));
    assert_eq!(value(TokenKind::Money, "$922337203685477.5808", 3).unwrap_err().number, 1007);
    // A word right behind a number is another token.
    assert_eq!(pieces("1a 1else 5.e"), ["1", "a", "1", "else", "5.e", ""]);
}

#[test]
fn marks_take_as_much_as_they_can() {
    assert_eq!(
        pieces("a<=b>=c<>d!=e!<f!>g+=h||=i||j<<k>>l::m:n|o|=p"),
        [
            "a", "<=", "b", ">=", "c", "<>", "d", "!=", "e", "!<", "f", "!>", "g", "+=", "h", "||=", "i", "||", "j",
            "<<", "k", ">>", "l", "::", "m", ":", "n", "|", "o", "|=", "p", ""
        ]
    );
}

#[test]
fn lines_are_counted() {
    let lines = |text: &str| lex(text, true).tokens.iter().map(|token| token.line).collect::<Vec<_>>();
    assert_eq!(lines("a\nb\r\nc -- x\r\n/* \n /* \n */ */ d 'e\n' f [g\nh] i"), [1, 2, 3, 6, 6, 7, 7, 8, 8]);
}

#[test]
fn blanks_and_comments_are_skipped() {
    assert_eq!(pieces("\u{FEFF}a\u{A0}b\tc\0d/**/e--f\ng"), ["a", "b", "c", "d", "e", "g", ""]);
    assert_eq!(pieces("--"), [""]);
}

#[test]
fn what_does_not_close_ends_the_stream() {
    for (text, number, line) in [("a\n'b", 105, 2), ("a [b\n", 105, 1), ("/* /* */\n", 113, 1), ("a \"b", 105, 1)] {
        let read = lex(text, true);
        assert_eq!(read.tokens.last().map(|token| token.kind), Some(TokenKind::Bad));
        let error = read.error.expect("an error");
        assert_eq!((error.number, error.line), (number, line));
    }
}

#[test]
fn stray_characters_are_tokens() {
    assert_eq!(pieces("? \u{1F600} \\"), ["?", "\u{1F600}", "\\", ""]);
    assert_eq!(kinds("?")[0], TokenKind::Symbol(Symbol::Stray));
}
