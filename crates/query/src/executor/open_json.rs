//! The members of a document in JSON.

use super::Run;
use crate::access::{Pace, Stop};
use crate::plan::OpenJson;
use pikepole_types::json::{Path, column, open};
use pikepole_types::memory::{self, Growth};
use pikepole_types::{Length, SqlError, SqlType, Value, base64_bytes, convert};
use std::collections::VecDeque;

/// The state of an [`OpenJson`].
#[derive(Default)]
pub(crate) struct OpenCursor {
    /// The rows left; none before the first is asked for.
    rows: Option<VecDeque<Vec<Value>>>,
    pace: Pace,
}

impl OpenCursor {
    pub(crate) fn next(&mut self, plan: &OpenJson, run: &mut Run<'_>) -> Result<bool, Stop> {
        self.pace.step()?;
        let rows = match &mut self.rows {
            Some(rows) => rows,
            None => self.rows.insert(rows(plan, run)?),
        };
        let Some(row) = rows.pop_front() else {
            return Ok(false);
        };
        for (slot, value) in plan.registers.range().zip(row) {
            run.slots[slot] = value;
        }
        Ok(true)
    }
}

fn rows(plan: &OpenJson, run: &mut Run<'_>) -> Result<VecDeque<Vec<Value>>, Stop> {
    let json = plan.json.eval(&mut run.env())?;
    let path = match &plan.path {
        None => Path::default(),
        Some(path) => match path.eval(&mut run.env())?.as_str() {
            Some(path) => Path::parse(path).map_err(Box::new)?,
            None => return Ok(VecDeque::new()),
        },
    };
    let Some(json) = json.as_str() else {
        return Ok(VecDeque::new());
    };
    let members = open(json, &path, !plan.columns.is_empty()).map_err(Box::new)?;
    memory::ask(members.len() * size_of::<Vec<Value>>()).map_err(Box::new)?;
    let mut rows = VecDeque::with_capacity(members.len());
    let mut growth = Growth::begin();
    for member in members {
        growth.step().map_err(Box::new)?;
        if plan.columns.is_empty() {
            let text = member.text().map_or(Value::Null, Value::Str);
            rows.push_back(vec![Value::Str(member.key), text, Value::TinyInt(member.kind)]);
            continue;
        }
        let mut row = Vec::with_capacity(plan.columns.len());
        for wanted in &plan.columns {
            let found = column(member.json, &wanted.path, wanted.as_json).map_err(Box::new)?;
            let (found, ty) = match found {
                // Bytes are written in base 64, as FOR JSON does.
                Some(text) if wanted.ty.is_binary() => {
                    let bytes =
                        base64_bytes(&text).ok_or_else(|| Box::new(SqlError::invalid_data(wanted.ty.name())))?;
                    (Value::Bin(bytes), SqlType::VarBinary(Length::Max))
                }
                found => (found.map_or(Value::Null, Value::Str), SqlType::NVarChar(Length::Max)),
            };
            row.push(convert(&found, &ty, &wanted.ty, None).map_err(Box::new)?);
        }
        rows.push_back(row);
    }
    Ok(rows)
}
