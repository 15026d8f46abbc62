//! CREATE, ALTER and DROP of partition functions and schemes.

use super::Parser;
use crate::error::{Parsed, SyntaxError};
use crate::lexer::{Keyword, Symbol};
use crate::tree::{PartitionStatement, StatementKind};

impl Parser<'_> {
    /// Whether `PARTITION FUNCTION` or `PARTITION SCHEME` comes next.
    pub(super) fn at_partition_object(&self) -> bool {
        self.at_word("PARTITION") && (self.nth_keyword(1, Keyword::Function) || self.nth_word(1, "SCHEME"))
    }

    /// `PARTITION FUNCTION` or `PARTITION SCHEME`; true for the latter.
    fn partition_object(&mut self) -> bool {
        self.bump();
        let scheme = self.at_word("SCHEME");
        self.bump();
        scheme
    }

    /// CREATE behind its word.
    pub(super) fn create_partition(&mut self) -> Parsed<StatementKind> {
        let scheme = self.partition_object();
        let name = self.name()?;
        if scheme {
            self.expect_words(&["AS", "PARTITION"])?;
            let function = self.name()?;
            let all = self.eat_keyword(Keyword::All);
            self.expect_keyword(Keyword::To)?;
            let filegroups = self.parenthesized(Self::filegroup)?;
            return Ok(kind(PartitionStatement::CreateScheme { name, function, all, filegroups }));
        }
        self.expect_symbol(Symbol::Open)?;
        let data_type = self.data_type()?;
        if self.at_keyword(Keyword::Collate) {
            return Err(SyntaxError::not_supported(self.peek().line, "COLLATE of a partition function"));
        }
        self.expect_symbol(Symbol::Close)?;
        self.expect_words(&["AS", "RANGE"])?;
        let right = self.eat_keyword(Keyword::Right);
        if !right {
            self.eat_keyword(Keyword::Left);
        }
        self.expect_words(&["FOR", "VALUES"])?;
        self.expect_symbol(Symbol::Open)?;
        let mut boundaries = Vec::new();
        if !self.at_symbol(Symbol::Close) {
            boundaries = self.list(Self::expression)?;
        }
        self.expect_symbol(Symbol::Close)?;
        Ok(kind(PartitionStatement::CreateFunction { name, data_type, right, boundaries }))
    }

    /// ALTER behind its word.
    pub(super) fn alter_partition(&mut self) -> Parsed<StatementKind> {
        let scheme = self.partition_object();
        let name = self.name()?;
        if scheme {
            self.expect_words(&["NEXT", "USED"])?;
            let next_used = if self.at_filegroup() { Some(self.filegroup()?) } else { None };
            return Ok(kind(PartitionStatement::AlterScheme { name, next_used }));
        }
        self.expect_symbol(Symbol::Open)?;
        self.expect_symbol(Symbol::Close)?;
        let split = self.eat_word("SPLIT");
        if !split && !self.eat_keyword(Keyword::Merge) {
            return Err(self.unexpected());
        }
        self.expect_word("RANGE")?;
        self.expect_symbol(Symbol::Open)?;
        let boundary = self.expression()?;
        self.expect_symbol(Symbol::Close)?;
        Ok(kind(PartitionStatement::AlterFunction { name, split, boundary }))
    }

    /// DROP behind its word.
    pub(super) fn drop_partition(&mut self) -> Parsed<StatementKind> {
        let scheme = self.partition_object();
        Ok(kind(PartitionStatement::Drop { scheme, name: self.name()? }))
    }

    fn at_filegroup(&self) -> bool {
        let is_filegroup = self.at_keyword(Keyword::Primary) || self.at_keyword(Keyword::Default);
        is_filegroup || self.at_text() || self.at_name()
    }
}

fn kind(statement: PartitionStatement) -> StatementKind {
    StatementKind::Partition(Box::new(statement))
}

#[cfg(test)]
mod tests {
    use crate::parse;

    #[test]
    fn statements_are_printed_as_they_are_read() {
        for text in [
            "CREATE PARTITION FUNCTION [pf] (int) AS RANGE RIGHT FOR VALUES (1, 10)",
            "CREATE PARTITION FUNCTION [pf] (datetime2(0)) AS RANGE LEFT FOR VALUES ()",
            "ALTER PARTITION FUNCTION [pf] () SPLIT RANGE (5)",
            "ALTER PARTITION FUNCTION [pf] () MERGE RANGE (5)",
            "CREATE PARTITION SCHEME [ps] AS PARTITION [pf] ALL TO ([PRIMARY])",
            "ALTER PARTITION SCHEME [ps] NEXT USED [PRIMARY]",
            "ALTER PARTITION SCHEME [ps] NEXT USED",
            "DROP PARTITION SCHEME [ps]",
            "DROP PARTITION FUNCTION [pf]",
        ] {
            let batch = parse(text).expect("it is read");
            let printed = batch.statements[0].to_string();
            let again = parse(&printed).expect("what is printed is read");
            assert_eq!(again.statements[0].to_string(), printed, "{text}");
        }
    }
}
