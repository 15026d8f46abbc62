//! Statements of SQL Server that there are no rules for. What begins like one of them and cannot be read is refused by its name, in the
//! place of an error of syntax that would have its reader look for a mistake.

use super::Parser;
use crate::error::SyntaxError;

/// What clauses in several places belong to.
pub(super) const GRAPH: &str = "A graph table";
pub(super) const CHANGE_TRACKING: &str = "Change tracking";
pub(super) const FULL_TEXT: &str = "Full-text search";

/// What CREATE, ALTER and DROP are of.
const DEFINED: &[&str] = &[
    "AGGREGATE",
    "ASSEMBLY",
    "ASYMMETRIC KEY",
    "AVAILABILITY GROUP",
    "BROKER PRIORITY",
    "CERTIFICATE",
    "COLUMN ENCRYPTION KEY",
    "COLUMN MASTER KEY",
    "CONTRACT",
    "CREDENTIAL",
    "CRYPTOGRAPHIC PROVIDER",
    "DATABASE AUDIT SPECIFICATION",
    "DATABASE ENCRYPTION KEY",
    "DATABASE SCOPED CREDENTIAL",
    "DEFAULT",
    "ENDPOINT",
    "EVENT NOTIFICATION",
    "EVENT SESSION",
    "EXTERNAL DATA SOURCE",
    "EXTERNAL FILE FORMAT",
    "EXTERNAL LANGUAGE",
    "EXTERNAL LIBRARY",
    "EXTERNAL RESOURCE POOL",
    "EXTERNAL TABLE",
    "FULLTEXT CATALOG",
    "FULLTEXT INDEX",
    "FULLTEXT STOPLIST",
    "MASTER KEY",
    "MESSAGE TYPE",
    "QUEUE",
    "REMOTE SERVICE BINDING",
    "RESOURCE GOVERNOR",
    "RESOURCE POOL",
    "ROUTE",
    "RULE",
    "SEARCH PROPERTY LIST",
    "SENSITIVITY CLASSIFICATION",
    "SERVER AUDIT",
    "SERVICE",
    "SIGNATURE",
    "SYMMETRIC KEY",
    "WORKLOAD GROUP",
];

/// Statements that begin otherwise.
const OTHERS: &[&str] = &[
    "ADD COUNTER SIGNATURE",
    "ADD SENSITIVITY CLASSIFICATION",
    "ADD SIGNATURE",
    "ALTER SERVICE MASTER KEY",
    "BACKUP CERTIFICATE",
    "BACKUP MASTER KEY",
    "BACKUP SERVICE MASTER KEY",
    "BACKUP SYMMETRIC KEY",
    "BEGIN CONVERSATION TIMER",
    "BEGIN DIALOG",
    "CLOSE ALL SYMMETRIC KEYS",
    "CLOSE MASTER KEY",
    "CLOSE SYMMETRIC KEY",
    "END CONVERSATION",
    "GET CONVERSATION GROUP",
    "KILL QUERY NOTIFICATION",
    "KILL STATS JOB",
    "LINENO",
    "MOVE CONVERSATION",
    "OPEN MASTER KEY",
    "OPEN SYMMETRIC KEY",
    "READTEXT",
    "RECEIVE",
    "RESTORE MASTER KEY",
    "RESTORE SERVICE MASTER KEY",
    "RESTORE SYMMETRIC KEY",
    "SEND ON CONVERSATION",
    "SET ERRLVL",
    "SET OFFSETS",
    "SETUSER",
    "UPDATETEXT",
    "WRITETEXT",
];

impl Parser<'_> {
    /// The error for the statement that begins with the token at `first`, if it is one of those that are refused by name.
    pub(super) fn refused(&self, first: usize) -> Option<Box<SyntaxError>> {
        let spells = |at: usize, words: &str| {
            words.split(' ').enumerate().all(|(ahead, word)| {
                let token = self.tokens.get(at + ahead);
                token.is_some_and(|token| self.source(*token).eq_ignore_ascii_case(word))
            })
        };
        let defines = ["CREATE", "ALTER", "DROP"].into_iter().find(|verb| spells(first, verb));
        let defined = defines.and_then(|verb| {
            let what = DEFINED.iter().find(|what| spells(first + 1, what))?;
            Some(format!("{verb} {what}"))
        });
        let other = || OTHERS.iter().find(|words| spells(first, words)).map(|words| (*words).to_owned());
        let line = self.tokens.get(first)?.line;
        defined.or_else(other).map(|statement| SyntaxError::not_supported(line, &statement))
    }
}

#[cfg(test)]
mod tests {
    use crate::parse;

    #[test]
    fn what_is_refused_is_named_wherever_it_stands() {
        for (text, statement, line) in [
            ("CREATE CERTIFICATE c WITH SUBJECT = 'x'", "CREATE CERTIFICATE", 1),
            ("SELECT 1\nALTER RESOURCE POOL p WITH (x = 1)", "ALTER RESOURCE POOL", 2),
            ("IF 1 = 1 BEGIN\nOPEN SYMMETRIC KEY k DECRYPTION BY CERTIFICATE c END", "OPEN SYMMETRIC KEY", 2),
            ("SEND ON CONVERSATION @h ('x')", "SEND ON CONVERSATION", 1),
            ("CREATE DATABASE AUDIT SPECIFICATION s FOR SERVER AUDIT a", "CREATE DATABASE AUDIT SPECIFICATION", 1),
        ] {
            let error = parse(text).expect_err("it is refused");
            let message = format!("{statement} is not supported in this version of Pikepole.");
            assert_eq!((error.number, error.severity, error.line, error.message), (40517, 16, line, message));
        }
    }

    #[test]
    fn the_document_has_each_of_them() {
        let statements = super::DEFINED.iter().map(|what| format!("CREATE, ALTER, DROP {what}"));
        let names: Vec<String> = statements.chain(super::OTHERS.iter().map(|words| (*words).to_owned())).collect();
        let list: String = names.iter().map(|name| format!("- `{name}`\n")).collect();
        let document = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/compatibility.md"));
        let kept = document.split_once("refused.rs -->\n").and_then(|(_, rest)| rest.split_once("<!-- end -->"));
        assert_eq!(
            kept.map(|(kept, _)| kept),
            Some(list.as_str()),
            "the list in docs/compatibility.md is to be:\n{list}"
        );
    }

    #[test]
    fn a_slip_of_the_pen_is_an_error_of_syntax() {
        assert_eq!(parse("CREATE CERTIFICAT c").map_err(|error| error.number), Err(102));
        assert_eq!(parse("CREATE TABLE t (a int,, b int)").map_err(|error| error.number), Err(102));
        assert!(parse("EXEC receive; CREATE TABLE [rule] (a int)").is_ok());
    }
}
