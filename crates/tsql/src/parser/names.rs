//! Names of objects and types.

use super::Parser;
use crate::error::{Parsed, SyntaxError};
use crate::lexer::{Keyword, Symbol, TokenKind};
use crate::tree::{DataType, Name, ObjectName, TypeArguments};

impl Parser<'_> {
    /// A name of one to four parts; parts between may be empty, as in `db..t`.
    pub(super) fn object_name(&mut self) -> Parsed<ObjectName> {
        let first = if self.at_symbol(Symbol::Dot) { None } else { Some(self.name()?) };
        self.object_name_from(first)
    }

    /// A name whose first part has been taken, or is left out before a dot.
    fn object_name_from(&mut self, first: Option<Name>) -> Parsed<ObjectName> {
        self.dotted_name(first, Self::name)
    }

    /// The same, whose other parts a rule reads.
    pub(super) fn dotted_name(
        &mut self,
        first: Option<Name>,
        mut read: impl FnMut(&mut Self) -> Parsed<Name>,
    ) -> Parsed<ObjectName> {
        let span = first.as_ref().map_or_else(|| self.span_of(self.peek()), |first| first.span);
        let (start, line) = (span.start as usize, span.line);
        let mut parts = [None, None, None, first];
        let mut count = 1;
        while self.eat_symbol(Symbol::Dot) {
            // `db..t`: a part that is left out. It is never the last one.
            let part = if self.at_symbol(Symbol::Dot) { None } else { Some(read(self)?) };
            count += 1;
            if count > parts.len() {
                let end = self.tokens[self.at - 1].end as usize;
                return Err(SyntaxError::too_many_prefixes(line, &self.text[start..end]));
            }
            parts.rotate_left(1);
            parts[3] = part;
        }
        let [server, database, schema, name] = parts;
        let Some(name) = name else { return Err(self.unexpected()) };
        Ok(ObjectName { server, database, schema, name })
    }

    /// A list of names in parentheses.
    pub(super) fn name_list(&mut self) -> Parsed<Vec<Name>> {
        self.parenthesized(Self::name)
    }

    /// A list of names in parentheses, if there is one.
    pub(super) fn optional_name_list(&mut self) -> Parsed<Vec<Name>> {
        if self.at_symbol(Symbol::Open) { self.name_list() } else { Ok(Vec::new()) }
    }

    /// A type.
    pub(super) fn data_type(&mut self) -> Parsed<DataType> {
        if let Some(data_type) = self.wordy_type()? {
            return Ok(data_type);
        }
        let mut name = self.name()?;
        let mut schema = None;
        if self.eat_symbol(Symbol::Dot) {
            schema = Some(std::mem::replace(&mut name, self.name()?));
        }
        if schema.is_none() {
            self.join_varying(&mut name);
        }
        let arguments = self.type_arguments(&name)?;
        Ok(DataType { schema, name, arguments })
    }

    /// `char varying` and its like: the one word they stand for.
    fn join_varying(&mut self, name: &mut Name) {
        const VARYING: &[(&str, &str)] =
            &[("char", "varchar"), ("character", "varchar"), ("nchar", "nvarchar"), ("binary", "varbinary")];
        let Some((_, joined)) = VARYING.iter().find(|(plain, _)| name.is(plain)) else { return };
        if self.eat_keyword(Keyword::Varying) {
            name.text = (*joined).to_string();
        } else if name.is("character") {
            name.text = "char".to_string();
        }
    }

    /// Types that begin with a reserved word.
    fn wordy_type(&mut self) -> Parsed<Option<DataType>> {
        let first = self.peek();
        let text = match first.kind {
            TokenKind::Keyword(Keyword::Double) => {
                self.bump();
                self.expect_word("precision")?;
                "float"
            }
            TokenKind::Keyword(Keyword::National) => {
                self.bump();
                if self.eat_word("text") {
                    "ntext"
                } else {
                    if !self.eat_word("character") {
                        self.expect_word("char")?;
                    }
                    if self.eat_keyword(Keyword::Varying) { "nvarchar" } else { "nchar" }
                }
            }
            _ => return Ok(None),
        };
        let name = Name { text: text.to_string(), span: self.span_from(first) };
        let arguments = self.type_arguments(&name)?;
        Ok(Some(DataType { schema: None, name, arguments }))
    }

    fn type_arguments(&mut self, name: &Name) -> Parsed<TypeArguments> {
        if !self.at_symbol(Symbol::Open) {
            return Ok(TypeArguments::None);
        }
        self.bump();
        let arguments = if self.eat_word("max") {
            TypeArguments::Max
        } else if name.is("xml") {
            if self.nth_name(1) && !self.eat_word("content") {
                self.eat_word("document");
            }
            TypeArguments::Collection(Box::new(self.object_name()?))
        } else {
            let first = self.small_number()?;
            if self.eat_symbol(Symbol::Comma) {
                TypeArguments::Two(first, self.small_number()?)
            } else {
                TypeArguments::One(first)
            }
        };
        self.expect_symbol(Symbol::Close)?;
        Ok(arguments)
    }
}
