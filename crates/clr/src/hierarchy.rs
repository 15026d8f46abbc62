//! Members of `hierarchyid`.

use crate::{Answer, Call, Form, Kind, Method, bytes, member, missing};
use pikepole_types::hierarchy::Path;
use pikepole_types::{SqlError, Value};

/// The type's members.
pub(crate) static METHODS: &[Method] = &[
    member(Form::Static, "GetRoot", &[], Kind::Own, |_| Path::default().to_value()),
    member(Form::Static, "Parse", &[Kind::Text], Kind::Own, |call| Path::parse(call.text(0))?.to_value()),
    member(Form::StaticProperty, "Null", &[], Kind::Own, |_| Ok(Value::Null)),
    member(Form::Property, "IsNull", &[], Kind::Bit, |_| Ok(Value::Bit(false))),
    member(Form::Method, "GetAncestor", &[Kind::Int], Kind::Own, ancestor),
    member(Form::Method, "GetDescendant", &[Kind::Own, Kind::Own], Kind::Own, descendant).taking_null(),
    member(Form::Method, "GetLevel", &[], Kind::Short, |call| {
        let level = call.path()?.level();
        Ok(Value::SmallInt(i16::try_from(level).unwrap_or(i16::MAX)))
    }),
    member(Form::Method, "GetReparentedValue", &[Kind::Own, Kind::Own], Kind::Own, |call| {
        call.path()?.reparented(&call.other(0)?, &call.other(1)?)?.to_value()
    }),
    member(Form::Method, "IsDescendantOf", &[Kind::Own], Kind::Bit, |call| {
        Ok(Value::Bit(call.path()?.is_descendant_of(&call.other(0)?)))
    }),
    member(Form::Method, "ToString", &[], Kind::ShortText, |call| Ok(Value::Str(call.path()?.to_string()))),
    // Programs call these, with streams.
    missing(Form::Method, "Read", &[Kind::Binary], Kind::Own),
    missing(Form::Method, "Write", &[Kind::Binary], Kind::Own),
];

impl Call<'_> {
    fn path(&self) -> Result<Path, SqlError> {
        Path::read(bytes(self.receiver))
    }

    fn other(&self, at: usize) -> Result<Path, SqlError> {
        Path::read(self.bytes(at))
    }
}

fn ancestor(call: &Call<'_>) -> Answer {
    let Ok(count) = usize::try_from(call.int(0)) else {
        let refused = SqlError::clr_exception(
            "hierarchyid",
            "System.ArgumentOutOfRangeException",
            "24011: SqlHierarchyId.GetAncestor failed because 'n' was negative.\r\nParameter name: n",
        );
        return Err(refused.with_state(2));
    };
    call.path()?.ancestor(count).map_or(Ok(Value::Null), |path| path.to_value())
}

fn descendant(call: &Call<'_>) -> Answer {
    let child = |at: usize| match call.arguments[at] {
        Value::Null => Ok(None),
        _ => call.other(at).map(Some),
    };
    call.path()?.descendant(child(0)?.as_ref(), child(1)?.as_ref())?.to_value()
}
