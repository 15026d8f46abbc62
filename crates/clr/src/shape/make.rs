//! Static members: shapes from texts, bytes and numbers.

use super::wkb;
use crate::{Answer, Call};
use pikepole_types::Value;
use pikepole_types::spatial::{Class, Instance, Point, Shape, System};

pub(super) fn parse(call: &Call<'_>) -> Answer {
    let system = call.system();
    Ok(Instance::parse(call.text(0), system, system.default_srid())?.to_value())
}

pub(super) fn from_text(call: &Call<'_>, kind: Option<u8>) -> Answer {
    let (text, system, srid) = (call.text(0), call.system(), call.int(1));
    system.check_srid(srid)?;
    let instance = match kind {
        None => Instance::parse(text, system, srid)?,
        Some(kind) => Instance::parse_kind(text, system, srid, kind)?,
    };
    Ok(instance.to_value())
}

pub(super) fn from_wkb(call: &Call<'_>, kind: Option<u8>) -> Answer {
    let invalid = || call.refused(Class::Format, "24115: The well-known binary (WKB) input is not valid.");
    call.system().check_srid(call.int(1))?;
    let shape = wkb::read(call.bytes(0)).ok_or_else(invalid)?;
    if kind.is_some_and(|kind| kind != shape.code()) {
        return Err(invalid());
    }
    let mut outside = false;
    shape.each_point(&mut |point| outside |= point.y.abs() > 90.0);
    if outside && call.system() == System::Earth {
        return Err(call.refused(Class::Format, "24201: Latitude values must be between -90 and 90 degrees."));
    }
    Ok(Instance::new(call.system(), call.int(1), shape)?.to_value())
}

/// `Point(x, y, srid)`, on the earth `Point(latitude, longitude, srid)`.
pub(super) fn point(call: &Call<'_>) -> Answer {
    let (first, second) = (call.float(0), call.float(1));
    let point = match call.system() {
        System::Plane => Point::flat(first + 0.0, second + 0.0),
        System::Earth if first.abs() > 90.0 => {
            return Err(call.refused(Class::Format, "24201: Latitude values must be between -90 and 90 degrees."));
        }
        System::Earth => Point::flat(second + 0.0, first + 0.0),
    };
    Ok(Instance::new(call.system(), call.int(2), Shape::Point(Some(point)))?.to_value())
}

/// The same shape in another reference system.
pub(super) fn with_srid(call: &Call<'_>) -> Answer {
    if call.arguments.iter().any(Value::is_null) {
        return Err(call.refused(Class::Null, "Value cannot be null."));
    }
    call.system().check_srid(call.int(0))?;
    Ok(Instance { srid: call.int(0), ..call.any()? }.to_value())
}
