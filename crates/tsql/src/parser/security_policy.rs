//! CREATE and ALTER SECURITY POLICY.

use super::Parser;
use crate::error::Parsed;
use crate::lexer::{Keyword, Symbol};
use crate::tree::{BlockOperation, PredicateChange, PredicateVerb, SecurityPolicy, StatementKind};

impl Parser<'_> {
    /// CREATE or ALTER SECURITY POLICY behind its words.
    pub(super) fn security_policy(&mut self, alter: bool) -> Parsed<StatementKind> {
        let name = self.object_name()?;
        let mut policy = SecurityPolicy {
            alter,
            name,
            changes: Vec::new(),
            enabled: None,
            schema_bound: None,
            not_for_replication: false,
        };
        if self.predicate_verb(alter).is_some() {
            policy.changes = self.list(|parser| parser.predicate_change(alter))?;
        }
        if self.at_keyword(Keyword::With) {
            self.policy_options(&mut policy)?;
        } else if policy.changes.is_empty() && alter {
            return Err(self.unexpected());
        }
        policy.not_for_replication = self.eat_words(&["NOT", "FOR", "REPLICATION"]);
        Ok(StatementKind::SecurityPolicy(Box::new(policy)))
    }

    /// What the next word does to a predicate: CREATE only adds them.
    fn predicate_verb(&self, alter: bool) -> Option<PredicateVerb> {
        if self.at_keyword(Keyword::Add) {
            return Some(PredicateVerb::Add);
        }
        match () {
            () if alter && self.at_keyword(Keyword::Alter) => Some(PredicateVerb::Alter),
            () if alter && self.at_keyword(Keyword::Drop) => Some(PredicateVerb::Drop),
            () => None,
        }
    }

    fn predicate_change(&mut self, alter: bool) -> Parsed<PredicateChange> {
        let verb = self.predicate_verb(alter).ok_or_else(|| self.unexpected())?;
        self.bump();
        let block = self.eat_word("BLOCK");
        if !block {
            self.eat_word("FILTER");
        }
        self.expect_word("PREDICATE")?;
        let call = match verb {
            PredicateVerb::Drop => None,
            PredicateVerb::Add | PredicateVerb::Alter => {
                let function = self.object_name()?;
                Some(self.call_arguments(function)?)
            }
        };
        self.expect_keyword(Keyword::On)?;
        let target = self.object_name()?;
        let operation = if block { self.block_operation() } else { None };
        Ok(PredicateChange { verb, block, call, target, operation })
    }

    fn block_operation(&mut self) -> Option<BlockOperation> {
        let operations = [
            (["AFTER", "INSERT"], BlockOperation::AfterInsert),
            (["AFTER", "UPDATE"], BlockOperation::AfterUpdate),
            (["BEFORE", "UPDATE"], BlockOperation::BeforeUpdate),
            (["BEFORE", "DELETE"], BlockOperation::BeforeDelete),
        ];
        operations.into_iter().find(|(words, _)| self.eat_words(words)).map(|(_, operation)| operation)
    }

    /// `WITH (STATE = ON, SCHEMABINDING = ON)`; the comma may be left out.
    fn policy_options(&mut self, policy: &mut SecurityPolicy) -> Parsed<()> {
        self.bump();
        self.expect_symbol(Symbol::Open)?;
        loop {
            let state = self.eat_word("STATE");
            if !state {
                self.expect_word("SCHEMABINDING")?;
            }
            self.expect_symbol(Symbol::Equal)?;
            let on = Some(self.on_off()?);
            if state {
                policy.enabled = on;
            } else {
                policy.schema_bound = on;
            }
            self.eat_symbol(Symbol::Comma);
            if self.eat_symbol(Symbol::Close) {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::parse;

    #[test]
    fn statements_are_printed_as_they_are_read() {
        for text in [
            "CREATE SECURITY POLICY s.p ADD FILTER PREDICATE s.f(a, 1) ON dbo.t, \
             ADD BLOCK PREDICATE s.f(a, 1) ON dbo.t AFTER UPDATE WITH (STATE = OFF, SCHEMABINDING = ON) NOT FOR REPLICATION",
            "ALTER SECURITY POLICY p WITH (STATE = ON)",
            "ALTER SECURITY POLICY p DROP FILTER PREDICATE ON t, ALTER BLOCK PREDICATE s.f(a) ON t BEFORE DELETE",
            "DROP SECURITY POLICY IF EXISTS s.p",
        ] {
            let batch = parse(text).expect("it is read");
            assert_eq!(batch.statements[0].to_string(), text);
        }
    }

    #[test]
    fn the_comma_between_options_may_be_left_out_and_create_only_adds() {
        assert!(
            parse("CREATE SECURITY POLICY p ADD PREDICATE s.f(a) ON t WITH (STATE = ON SCHEMABINDING = OFF)").is_ok()
        );
        assert!(parse("CREATE SECURITY POLICY p DROP FILTER PREDICATE ON t").is_err());
        assert!(parse("ALTER SECURITY POLICY p").is_err());
        assert!(parse("CREATE SECURITY POLICY p ADD FILTER PREDICATE s.f(a) ON t AFTER UPDATE").is_err());
    }
}
