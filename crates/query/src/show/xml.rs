//! Plans as XML, in the namespace and with the elements that tools know them by.

use std::fmt::{Display, Write};

use super::{Shown, ShownParameter, ShownStatement};
use crate::output::ColumnInfo;
use crate::xml_text::escape_xml;
use pikepole_types::{Length, SqlType};

/// The name of the one column.
const COLUMN: &str = "Microsoft SQL Server 2005 XML Showplan";
const NAMESPACE: &str = "http://schemas.microsoft.com/sqlserver/2004/07/showplan";

/// The column of SHOWPLAN_XML and STATISTICS XML.
pub(crate) fn xml_columns() -> Vec<ColumnInfo> {
    vec![ColumnInfo::new(COLUMN, SqlType::NVarChar(Length::Max), true)]
}

/// The document of the statements of a batch.
pub(crate) fn document(statements: &[ShownStatement]) -> String {
    let mut out = Writer(String::new());
    out.raw(&format!("<ShowPlanXML xmlns=\"{NAMESPACE}\" Version=\"1.564\"><BatchSequence><Batch><Statements>"));
    for statement in statements {
        out.statement(statement);
    }
    out.raw("</Statements></Batch></BatchSequence></ShowPlanXML>");
    out.0
}

struct Writer(String);

impl Writer {
    fn raw(&mut self, text: &str) {
        self.0.push_str(text);
    }

    fn attribute(&mut self, name: &str, value: impl Display) {
        let _ = write!(self.0, " {name}=\"");
        escape_xml(&value.to_string(), true, &mut self.0);
        self.0.push('"');
    }

    fn optional(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.attribute(name, value);
        }
    }

    fn statement(&mut self, statement: &ShownStatement) {
        let estimate = statement.plan.estimate;
        self.raw("<StmtSimple");
        self.attribute("StatementText", &statement.text);
        self.attribute("StatementId", statement.number);
        self.attribute("StatementCompId", statement.number);
        self.attribute("StatementType", statement.kind);
        self.optional("StatementSubTreeCost", estimate.map(|size| size.total()));
        self.optional("StatementEstRows", estimate.map(|size| size.rows));
        self.raw("><QueryPlan");
        self.optional("DegreeOfParallelism", degree(&statement.plan));
        self.raw(">");
        self.operator(&statement.plan, &mut 0);
        self.parameters(&statement.parameters);
        self.raw("</QueryPlan></StmtSimple>");
    }

    fn parameters(&mut self, parameters: &[ShownParameter]) {
        if parameters.is_empty() {
            return;
        }
        self.raw("<ParameterList>");
        for parameter in parameters {
            self.raw("<ColumnReference");
            self.attribute("Column", &parameter.name);
            self.attribute("ParameterDataType", &parameter.ty);
            self.attribute("ParameterCompiledValue", &parameter.value);
            self.raw("/>");
        }
        self.raw("</ParameterList>");
    }

    fn operator(&mut self, shown: &Shown, next: &mut u32) {
        self.raw("<RelOp");
        self.attribute("NodeId", *next);
        *next += 1;
        self.attribute("PhysicalOp", shown.physical);
        self.attribute("LogicalOp", shown.logical);
        self.optional("EstimateRows", shown.estimate.map(|size| size.rows));
        self.optional("EstimatedTotalSubtreeCost", shown.estimate.map(|size| size.total()));
        self.optional("EstimateExecutions", shown.executions);
        if shown.batch {
            self.attribute("EstimatedExecutionMode", "Batch");
        }
        if shown.parallel || !shown.may_share {
            self.attribute("Parallel", i32::from(shown.parallel));
        }
        self.raw("><OutputList>");
        shown.output.iter().for_each(|column| self.column(column));
        self.raw("</OutputList>");
        self.counted(shown);
        let element = element(shown.physical);
        self.raw(&format!("<{element}"));
        if let Some(order) = shown.order {
            self.attribute("Ordered", 1);
            self.attribute("ScanDirection", order.strip_prefix("ORDERED ").unwrap_or(order));
        }
        self.raw(">");
        self.details(shown);
        shown.inputs.iter().for_each(|input| self.operator(input, next));
        self.raw(&format!("</{element}></RelOp>"));
    }

    /// Writes its counts, in one task or in each of its workers.
    fn counted(&mut self, shown: &Shown) {
        if !shown.workers.is_empty() {
            self.raw("<RunTimeInformation>");
            for (place, run) in shown.workers.iter().enumerate() {
                self.raw("<RunTimeCountersPerThread");
                self.attribute("Thread", place + 1);
                self.attribute("ActualRows", run.rows);
                self.attribute("ActualExecutions", 1);
                self.attribute("ActualCPUms", run.cpu_us / 1000);
                self.raw("/>");
            }
            return self.raw("</RunTimeInformation>");
        }
        let Some(counted) = shown.counted else { return };
        self.raw("<RunTimeInformation><RunTimeCountersPerThread Thread=\"0\"");
        self.attribute("ActualRows", counted.rows);
        self.optional("ActualRowsRead", shown.rows_read);
        self.attribute("ActualExecutions", counted.openings);
        self.optional("ActualElapsedms", counted.time_us.map(|time_us| time_us / 1000));
        self.raw("/></RunTimeInformation>");
    }

    fn details(&mut self, shown: &Shown) {
        if !shown.defined.is_empty() {
            self.raw("<DefinedValues>");
            for (name, value) in &shown.defined {
                self.raw("<DefinedValue>");
                self.column(name);
                self.scalar(value);
                self.raw("</DefinedValue>");
            }
            self.raw("</DefinedValues>");
        }
        if let Some(object) = &shown.object {
            self.raw("<Object");
            let [database, schema, table] = &object.table;
            self.optional("Database", Some(database).filter(|name| !name.is_empty()));
            self.optional("Schema", Some(schema).filter(|name| !name.is_empty()));
            self.attribute("Table", table);
            self.optional("Index", object.index.as_ref());
            self.optional("Alias", object.alias.as_ref());
            self.raw("/>");
        }
        for (name, text) in &shown.clauses {
            let element = match *name {
                "SEEK" => "SeekPredicates",
                "WHERE" => "Predicate",
                "RESIDUAL" => "ProbeResidual",
                "TOP EXPRESSION" => "TopExpression",
                "OFFSET EXPRESSION" => "OffsetExpression",
                "SET" => "SetPredicate",
                "ORDER BY" => "OrderBy",
                "OUTER REFERENCES" => "OuterReferences",
                "HASH" => "HashKeys",
                "PARTITION BY" => "PartitionBy",
                _ => "Argument",
            };
            self.raw(&format!("<{element}>"));
            self.scalar(text);
            self.raw(&format!("</{element}>"));
        }
    }

    fn column(&mut self, name: &str) {
        self.raw("<ColumnReference");
        self.attribute("Column", name);
        self.raw("/>");
    }

    fn scalar(&mut self, text: &str) {
        self.raw("<ScalarOperator");
        self.attribute("ScalarString", text);
        self.raw("/>");
    }
}

/// The workers of a plan.
fn degree(shown: &Shown) -> Option<usize> {
    shown.degree.or_else(|| shown.inputs.iter().find_map(degree))
}

/// The element that tells of an operator.
fn element(physical: &str) -> &'static str {
    match physical {
        "Clustered Index Scan" | "Clustered Index Seek" | "Index Scan" | "Index Seek" => "IndexScan",
        "Table Scan" => "TableScan",
        "Constant Scan" => "ConstantScan",
        "Compute Scalar" => "ComputeScalar",
        "Filter" => "Filter",
        "Nested Loops" => "NestedLoops",
        "Hash Match" => "Hash",
        "Stream Aggregate" => "StreamAggregate",
        "Sort" => "Sort",
        "Top" => "Top",
        "Concatenation" => "Concat",
        "Table Spool" | "Index Spool" => "Spool",
        "Window Aggregate" => "WindowAggregate",
        "Table-valued function" => "TableValuedFunction",
        "Remote Scan" => "RemoteScan",
        "UDX" => "UDX",
        "Inserted Scan" => "InsertedScan",
        "Deleted Scan" => "DeletedScan",
        "Sequence Project" => "SequenceProject",
        "Parallelism" => "Parallelism",
        "Clustered Index Insert"
        | "Clustered Index Update"
        | "Clustered Index Delete"
        | "Clustered Index Merge"
        | "Table Insert"
        | "Table Update"
        | "Table Delete"
        | "Table Merge" => "Update",
        _ => "Generic",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_a_plan_was_made_for_are_listed_behind_its_operators() {
        let parameter = |name: &str, value: &str| ShownParameter {
            name: name.to_owned(),
            ty: "nvarchar(9)".to_owned(),
            value: value.to_owned(),
        };
        let statement = ShownStatement {
            text: String::new(),
            number: 1,
            kind: "SELECT",
            plan: Shown::default(),
            rows: None,
            parameters: vec![parameter("@a", "N'<'"), parameter("@b", "NULL")],
        };
        let document = document(&[statement]);
        let column = |name: &str, value: &str| {
            format!(
                "<ColumnReference Column=\"{name}\" ParameterDataType=\"nvarchar(9)\" ParameterCompiledValue=\"{value}\"/>"
            )
        };
        let list =
            format!("</RelOp><ParameterList>{}{}</ParameterList>", column("@a", "N'&lt;'"), column("@b", "NULL"));
        assert!(document.contains(&list), "{document}");
    }
}
