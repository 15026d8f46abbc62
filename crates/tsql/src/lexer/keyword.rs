//! T-SQL's reserved words: those that cannot be identifiers without brackets. PRECISION is on the documented list, but is taken
//! as a name wherever it does not follow DOUBLE: scripts read `precision` of `sys.columns` without brackets. DISK, DUMP and LOAD
//! are on it for statements that are gone, and are names.

macro_rules! keywords {
    ($($variant:ident $word:literal,)*) => {
        /// A reserved word.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Keyword {
            $(#[doc = $word] $variant,)*
        }

        /// All reserved words in upper case, in the order of their bytes.
        const WORDS: &[(&str, Keyword)] = &[$(($word, Keyword::$variant),)*];
    };
}

/// All reserved words, in upper case.
pub fn reserved_words() -> impl Iterator<Item = &'static str> {
    WORDS.iter().map(|(word, _)| *word)
}

keywords! {
    Add "ADD", All "ALL", Alter "ALTER", And "AND", Any "ANY", As "AS", Asc "ASC", Authorization "AUTHORIZATION",
    Backup "BACKUP", Begin "BEGIN", Between "BETWEEN", Break "BREAK", Browse "BROWSE", Bulk "BULK", By "BY",
    Cascade "CASCADE", Case "CASE", Check "CHECK", Checkpoint "CHECKPOINT", Close "CLOSE", Clustered "CLUSTERED",
    Coalesce "COALESCE", Collate "COLLATE", Column "COLUMN", Commit "COMMIT", Compute "COMPUTE",
    Constraint "CONSTRAINT", Contains "CONTAINS", ContainsTable "CONTAINSTABLE", Continue "CONTINUE",
    Convert "CONVERT", Create "CREATE", Cross "CROSS", Current "CURRENT", CurrentDate "CURRENT_DATE",
    CurrentTime "CURRENT_TIME", CurrentTimestamp "CURRENT_TIMESTAMP", CurrentUser "CURRENT_USER", Cursor "CURSOR",
    Database "DATABASE", Dbcc "DBCC", Deallocate "DEALLOCATE", Declare "DECLARE", Default "DEFAULT",
    Delete "DELETE", Deny "DENY", Desc "DESC", Distinct "DISTINCT", Distributed "DISTRIBUTED",
    Double "DOUBLE", Drop "DROP", Else "ELSE", End "END", Errlvl "ERRLVL", Escape "ESCAPE",
    Except "EXCEPT", Exec "EXEC", Execute "EXECUTE", Exists "EXISTS", Exit "EXIT", External "EXTERNAL",
    Fetch "FETCH", File "FILE", Fillfactor "FILLFACTOR", For "FOR", Foreign "FOREIGN", Freetext "FREETEXT",
    FreetextTable "FREETEXTTABLE", From "FROM", Full "FULL", Function "FUNCTION", Goto "GOTO", Grant "GRANT",
    Group "GROUP", Having "HAVING", Holdlock "HOLDLOCK", Identity "IDENTITY", IdentityCol "IDENTITYCOL",
    IdentityInsert "IDENTITY_INSERT", If "IF", In "IN", Index "INDEX", Inner "INNER", Insert "INSERT",
    Intersect "INTERSECT", Into "INTO", Is "IS", Join "JOIN", Key "KEY", Kill "KILL", Left "LEFT", Like "LIKE",
    Lineno "LINENO", Merge "MERGE", National "NATIONAL", Nocheck "NOCHECK",
    Nonclustered "NONCLUSTERED", Not "NOT", Null "NULL", Nullif "NULLIF", Of "OF", Off "OFF", Offsets "OFFSETS",
    On "ON", Open "OPEN", OpenDatasource "OPENDATASOURCE", OpenQuery "OPENQUERY", OpenRowset "OPENROWSET",
    OpenXml "OPENXML", Option "OPTION", Or "OR", Order "ORDER", Outer "OUTER", Over "OVER", Percent "PERCENT",
    Pivot "PIVOT", Plan "PLAN", Primary "PRIMARY", Print "PRINT", Proc "PROC",
    Procedure "PROCEDURE", Public "PUBLIC", Raiserror "RAISERROR", Read "READ", Readtext "READTEXT",
    Reconfigure "RECONFIGURE", References "REFERENCES", Replication "REPLICATION", Restore "RESTORE",
    Restrict "RESTRICT", Return "RETURN", Revert "REVERT", Revoke "REVOKE", Right "RIGHT", Rollback "ROLLBACK",
    Rowcount "ROWCOUNT", Rowguidcol "ROWGUIDCOL", Rule "RULE", Save "SAVE", Schema "SCHEMA",
    SecurityAudit "SECURITYAUDIT", Select "SELECT", SemanticKeyPhraseTable "SEMANTICKEYPHRASETABLE",
    SemanticSimilarityDetailsTable "SEMANTICSIMILARITYDETAILSTABLE",
    SemanticSimilarityTable "SEMANTICSIMILARITYTABLE", SessionUser "SESSION_USER", Set "SET", Setuser "SETUSER",
    Shutdown "SHUTDOWN", Some "SOME", Statistics "STATISTICS", SystemUser "SYSTEM_USER", Table "TABLE",
    TableSample "TABLESAMPLE", Textsize "TEXTSIZE", Then "THEN", To "TO", Top "TOP", Tran "TRAN",
    Transaction "TRANSACTION", Trigger "TRIGGER", Truncate "TRUNCATE", TryConvert "TRY_CONVERT", Tsequal "TSEQUAL",
    Union "UNION", Unique "UNIQUE", Unpivot "UNPIVOT", Update "UPDATE", Updatetext "UPDATETEXT", Use "USE",
    User "USER", Values "VALUES", Varying "VARYING", View "VIEW", Waitfor "WAITFOR", When "WHEN", Where "WHERE",
    While "WHILE", With "WITH", Writetext "WRITETEXT",
}

/// The longest reserved word, in bytes.
const WORD_MAX: usize = 30;

impl Keyword {
    /// The reserved word that `text` spells, without regard to case.
    pub(crate) fn of(text: &str) -> Option<Keyword> {
        if text.len() > WORD_MAX || text.len() < 2 {
            return None;
        }
        let mut upper = [0; WORD_MAX];
        let upper = &mut upper[..text.len()];
        for (to, from) in upper.iter_mut().zip(text.bytes()) {
            *to = from.to_ascii_uppercase();
        }
        let upper: &[u8] = upper;
        let at = WORDS.binary_search_by(|(word, _)| word.as_bytes().cmp(upper)).ok()?;
        Some(WORDS[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted_and_fit() {
        assert!(WORDS.windows(2).all(|pair| pair[0].0.as_bytes() < pair[1].0.as_bytes()));
        assert_eq!(WORDS.iter().map(|(word, _)| word.len()).max(), Some(WORD_MAX));
        assert!(WORDS.iter().all(|(word, keyword)| Keyword::of(&word.to_lowercase()) == Some(*keyword)));
        assert_eq!(Keyword::of("selec"), None);
        assert_eq!(Keyword::of("größe"), None);
    }
}
