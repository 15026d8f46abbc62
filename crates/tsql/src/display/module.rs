//! Procedures, functions, views, triggers.

use std::fmt::{Display, Formatter, Result};

use super::{Commas, Parens, optional, statements, words};
use crate::tree::*;

impl Display for ModuleMode {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            ModuleMode::Create => "CREATE",
            ModuleMode::Alter => "ALTER",
            ModuleMode::CreateOrAlter => "CREATE OR ALTER",
        })
    }
}

/// ` WITH options`
fn options(f: &mut Formatter<'_>, options: &[ModuleOption]) -> Result {
    if options.is_empty() { Ok(()) } else { write!(f, " WITH {}", Commas(options)) }
}

impl Display for ModuleOption {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            ModuleOption::Word(word) => f.write_str(word),
            ModuleOption::ExecuteAs(who) => write!(f, "EXECUTE AS {who}"),
            ModuleOption::Inline(on) => write!(f, "INLINE = {}", if *on { "ON" } else { "OFF" }),
        }
    }
}

impl Display for Parameter {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} {}", self.name, self.data_type)?;
        words(f, self.varying, " VARYING")?;
        super::table::nullable(f, self.nullable)?;
        optional(f, " = ", &self.default, "")?;
        words(f, self.output, " OUTPUT")?;
        words(f, self.readonly, " READONLY")
    }
}

/// A body that goes to the end of the batch, or one in BEGIN and END.
fn body(f: &mut Formatter<'_>, body: &ModuleBody, to_the_end: bool) -> Result {
    match body {
        ModuleBody::Statements(all) if to_the_end => {
            writeln!(f)?;
            statements(f, all)
        }
        ModuleBody::Statements(all) => {
            f.write_str("\nBEGIN\n")?;
            words(f, all.is_empty(), ";\n")?;
            statements(f, all)?;
            f.write_str("END")
        }
        ModuleBody::Atomic { options, statements: all } => {
            writeln!(f, "\nBEGIN ATOMIC WITH ({})", Commas(options))?;
            statements(f, all)?;
            f.write_str("END")
        }
        ModuleBody::External(name) => write!(f, " EXTERNAL NAME {name}"),
    }
}

impl Display for CreateProcedure {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} PROCEDURE {}", self.mode, self.name)?;
        optional(f, ";", &self.number, "")?;
        if !self.parameters.is_empty() {
            write!(f, " {}", Commas(&self.parameters))?;
        }
        options(f, &self.options)?;
        words(f, self.for_replication, " FOR REPLICATION")?;
        f.write_str(" AS")?;
        body(f, &self.body, true)
    }
}

impl Display for CreateFunction {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} FUNCTION {} ({}) RETURNS", self.mode, self.name, Commas(&self.parameters))?;
        match &self.returns {
            FunctionReturns::Scalar { data_type, body: run } => {
                write!(f, " {data_type}")?;
                options(f, &self.options)?;
                f.write_str(" AS")?;
                body(f, run, false)
            }
            FunctionReturns::Inline(query) => {
                f.write_str(" TABLE")?;
                options(f, &self.options)?;
                write!(f, " AS RETURN {query}")
            }
            FunctionReturns::Table { variable, elements, body: run } => {
                write!(f, " {variable} TABLE ({})", Commas(elements))?;
                options(f, &self.options)?;
                f.write_str(" AS")?;
                body(f, run, false)
            }
        }
    }
}

impl Display for CreateView {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} VIEW {}{}", self.mode, self.name, Parens(&self.columns))?;
        options(f, &self.options)?;
        write!(f, " AS {}", self.query)?;
        words(f, self.check_option, " WITH CHECK OPTION")
    }
}

impl Display for CreateTrigger {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} TRIGGER {} ON {}", self.mode, self.name, self.on)?;
        options(f, &self.options)?;
        f.write_str(if self.instead_of { " INSTEAD OF " } else { " AFTER " })?;
        for (index, event) in self.events.iter().enumerate() {
            words(f, index > 0, ", ")?;
            f.write_str(event)?;
        }
        words(f, self.not_for_replication, " NOT FOR REPLICATION")?;
        f.write_str(" AS")?;
        body(f, &self.body, true)
    }
}

impl Display for TriggerTarget {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            TriggerTarget::Table(name) => name.fmt(f),
            TriggerTarget::Database => f.write_str("DATABASE"),
            TriggerTarget::Server => f.write_str("ALL SERVER"),
        }
    }
}
