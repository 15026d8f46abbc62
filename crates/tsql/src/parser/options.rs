//! Lists of options: `name = value, name, ...`.

use super::Parser;
use crate::error::Parsed;
use crate::lexer::{Keyword, Symbol, TokenKind};
use crate::tree::{Expr, SettingOption, SettingValue};

/// Words that follow a number as its unit.
const UNITS: &[&str] = &[
    "KB", "MB", "GB", "TB", "SECOND", "SECONDS", "MINUTE", "MINUTES", "HOUR", "HOURS", "DAY", "DAYS", "WEEK", "WEEKS",
    "MONTH", "MONTHS", "YEAR", "YEARS",
];

impl Parser<'_> {
    /// `(name = value, ...)`
    pub(super) fn option_list(&mut self) -> Parsed<Vec<SettingOption>> {
        self.parenthesized(Self::setting_option)
    }

    /// `WITH (name = value, ...)`, if it comes next.
    pub(super) fn optional_with_options(&mut self) -> Parsed<Vec<SettingOption>> {
        if self.at_keyword(Keyword::With) && self.nth_symbol(1, Symbol::Open) {
            self.bump();
            return self.option_list();
        }
        Ok(Vec::new())
    }

    /// `WITH name = value, ...` without parentheses, if it comes next.
    pub(super) fn optional_with_bare_options(&mut self) -> Parsed<Vec<SettingOption>> {
        if self.eat_keyword(Keyword::With) { self.list(Self::setting_option) } else { Ok(Vec::new()) }
    }

    /// `name`, `name = value` or `name (list)`
    pub(super) fn setting_option(&mut self) -> Parsed<SettingOption> {
        let first = self.peek();
        let mut name = self.upper_word()?;
        let mut value = if self.eat_symbol(Symbol::Equal) {
            let names_table = name == "HISTORY_TABLE";
            Some(if names_table { SettingValue::Name(self.object_name()?) } else { self.setting_value()? })
        } else if self.at_symbol(Symbol::Open) {
            Some(SettingValue::List(self.nested(Self::option_list)?))
        } else if name == "MOVE" && self.eat_keyword(Keyword::To) {
            name.push_str(" TO");
            Some(SettingValue::Place(self.placement()?))
        } else {
            None
        };
        if self.at_keyword(Keyword::On) && self.nth_word(1, "PARTITIONS") {
            self.bump();
            self.bump();
            let ranges = self.parenthesized(Self::partition_range)?;
            value = Some(SettingValue::OnPartitions(value.map(Box::new), ranges));
        }
        Ok(SettingOption { name, value, span: self.span_from(first) })
    }

    /// `n` or `n TO m`
    fn partition_range(&mut self) -> Parsed<(Expr, Option<Expr>)> {
        let first = self.literal_or_variable()?;
        let last = if self.eat_keyword(Keyword::To) { Some(self.literal_or_variable()?) } else { None };
        Ok((first, last))
    }

    /// The value of an option.
    pub(super) fn setting_value(&mut self) -> Parsed<SettingValue> {
        match self.peek().kind {
            TokenKind::Keyword(Keyword::On) => {
                self.bump();
                if self.at_symbol(Symbol::Open) {
                    return Ok(SettingValue::OnWith(self.nested(Self::option_list)?));
                }
                Ok(SettingValue::On)
            }
            TokenKind::Keyword(Keyword::Off) => {
                self.bump();
                Ok(SettingValue::Off)
            }
            TokenKind::Symbol(Symbol::Open) => Ok(SettingValue::List(self.nested(Self::option_list)?)),
            TokenKind::Word if self.nth_symbol(1, Symbol::Dot) => self.object_name().map(SettingValue::Name),
            TokenKind::QuotedName { .. } => self.object_name().map(SettingValue::Name),
            TokenKind::Word => self.upper_word().map(SettingValue::Word),
            TokenKind::Keyword(keyword) if keyword != Keyword::Null => self.upper_word().map(SettingValue::Word),
            _ => self.measure(),
        }
    }

    fn measure(&mut self) -> Parsed<SettingValue> {
        let value = self.literal_or_variable()?;
        if self.eat_symbol(Symbol::Percent) {
            return Ok(SettingValue::Measure(value, "%".to_string()));
        }
        let token = self.peek();
        let unit = self.source(token);
        if token.kind == TokenKind::Word && UNITS.iter().any(|known| known.eq_ignore_ascii_case(unit)) {
            return Ok(SettingValue::Measure(value, self.upper_word()?));
        }
        Ok(SettingValue::Expr(value))
    }
}
