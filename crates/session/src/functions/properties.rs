//! Properties: of the server, its databases, the connection and the session, and of objects, columns, indexes and collations.

use super::{Answer, Call, PRODUCT_VERSION, flag, int, string};
use crate::connection::ConnectionInfo;
use crate::modules;
use crate::names;
use crate::views::columns::TYPES;
use crate::views::databases::{COMPATIBILITY_LEVEL, DATABASE_VERSION, last_good_check};
use crate::views::in_variant;
use pikepole_engine::{Catalog, Module, Object, Table, TableRecord, Trigger, TriggerEvent, UserTypeKind, Versioning};
use pikepole_query::{Traits, check_key_column, column_traits, module_is_deterministic};
use pikepole_types::{Collation, DateTime, Length, SecondName, SqlType, Value, Variant};

/// `EditionID` of the Developer Edition, which has everything.
const EDITION_DEVELOPER: i64 = -2_117_995_310;

pub(super) fn collation_property(call: &Call<'_>) -> Answer {
    let (Some(name), Some(property)) = (call.text(0), call.text(1)) else { return Ok(None) };
    let Some(collation) = Collation::by_name(name) else { return Ok(None) };
    match property.to_ascii_lowercase().as_str() {
        "codepage" => int(collation.code_page().number().into()),
        "lcid" => int(collation.lcid()),
        "comparisonstyle" => int(collation.comparison_style()),
        "version" => Ok(Some(Value::TinyInt(collation.version()))),
        // As the protocol sends it: bulk loads by a format file ask for it by the collation's name.
        "tdscollation" => {
            let bytes = collation.wire_bytes().to_vec();
            let ty = SqlType::VarBinary(Length::Limit(bytes.len() as u16));
            Ok(Some(in_variant(ty, Value::Bin(bytes))))
        }
        _ => Ok(None),
    }
}

pub(super) fn full_text_service(call: &Call<'_>) -> Answer {
    let property = call.text(0).map(str::to_ascii_lowercase);
    let is_asked = property.is_some_and(|property| property == "isfulltextinstalled");
    Ok(is_asked.then_some(Value::Int(0)))
}

pub(super) fn server_property(call: &Call<'_>) -> Answer {
    let Some(name) = call.text(0) else { return Ok(None) };
    let server_name = || call.host.registry.server_name().to_string();
    let folder = || call.host.server.folder().display().to_string();
    let text = match name.to_ascii_lowercase().as_str() {
        "productversion" | "resourceversion" => PRODUCT_VERSION.to_string(),
        "productmajorversion" => "16".to_string(),
        "productminorversion" => "0".to_string(),
        "productbuild" => "1000".to_string(),
        "productlevel" => "RTM".to_string(),
        "edition" => "Developer Edition (64-bit)".to_string(),
        "engineedition" => return int(3),
        "isxtpsupported" => return int(1),
        "servername" | "machinename" | "computernamephysicalnetbios" => server_name(),
        "collation" => Collation::default().name().to_string(),
        "lcid" => return int(1033),
        "sqlcharsetname" => "iso_1".to_string(),
        "sqlsortordername" => "nocase_iso".to_string(),
        "resourcelastupdatedatetime" => return Ok(product_date()),
        "comparisonstyle" => return int(Collation::default().comparison_style()),
        "sqlcharset" => return Ok(Some(Value::TinyInt(1))),
        "sqlsortorder" => return Ok(Some(Value::TinyInt(52))),
        "editionid" => return Ok(Some(Value::BigInt(EDITION_DEVELOPER))),
        "filestreamconfiguredlevel"
        | "filestreameffectivelevel"
        | "isbigdatacluster"
        | "istempdbmetadatamemoryoptimized"
        | "isserversuspendedforsnapshotbackup"
        | "suspendeddatabasecount"
        | "isexternalauthenticationonly"
        | "isexternalgovernanceenabled" => return int(0),
        "processid" => return int(i32::try_from(std::process::id()).unwrap_or(i32::MAX)),
        "licensetype" => "DISABLED".to_string(),
        "instancedefaultdatapath" | "instancedefaultlogpath" => folder(),
        "instancedefaultbackuppath" => call.host.server.backup_folder().display().to_string(),
        "isclustered"
        | "ishadrenabled"
        | "issingleuser"
        | "isfulltextinstalled"
        | "isintegratedsecurityonly"
        | "islocaldb"
        | "ispolybaseinstalled"
        | "isadvancedanalyticsinstalled" => return int(0),
        _ => return Ok(None),
    };
    string(text)
}

pub(super) fn connection_property(call: &Call<'_>) -> Answer {
    let connection = call.host.cell.connection();
    let transport = if connection.is_some() { "TCP" } else { "Shared memory" };
    let of_connection =
        |shown: fn(&ConnectionInfo) -> String| connection.map(|connection| Value::Str(shown(connection)));
    Ok(match call.text(0).unwrap_or_default().to_ascii_lowercase().as_str() {
        "net_transport" | "physical_net_transport" => return string(transport),
        "protocol_type" => return string("TSQL"),
        "auth_scheme" => return string("SQL"),
        "local_net_address" => of_connection(|connection| connection.local.ip().to_string()),
        "local_tcp_port" => connection.map(|connection| Value::Int(connection.local.port().into())),
        "client_net_address" => of_connection(|connection| connection.client.ip().to_string()),
        _ => None,
    })
}

pub(super) fn session_property(call: &Call<'_>) -> Answer {
    let on = match call.text(0).unwrap_or_default().to_ascii_uppercase().as_str() {
        "QUOTED_IDENTIFIER" => call.context.settings.quoted_identifier,
        "ANSI_WARNINGS" => call.context.settings.ansi_warnings,
        "ANSI_NULLS" => call.context.settings.ansi_nulls,
        "CONCAT_NULL_YIELDS_NULL" => call.context.settings.concat_null_yields_null,
        "ARITHABORT" => call.context.settings.arithabort,
        "ANSI_PADDING" => call.context.settings.ansi_padding,
        "NUMERIC_ROUNDABORT" => false,
        _ => return Ok(None),
    };
    int(on.into())
}

pub(super) fn database_property(call: &Call<'_>) -> Answer {
    let (Some(name), Some(property)) = (call.text(0), call.text(1)) else { return Ok(None) };
    let databases = call.host.server.databases();
    let found = databases.iter().find(|database| database.name.to_lowercase() == name.to_lowercase());
    let Some(database) = found else { return Ok(None) };
    match property.to_ascii_lowercase().as_str() {
        "status" => string(database.state.name()),
        "collation" => string(database.options.collation.name()),
        "lcid" => int(database.options.collation.lcid()),
        "comparisonstyle" => int(database.options.collation.comparison_style()),
        "sqlsortorder" => Ok(Some(Value::TinyInt(database.options.collation.sort_order()))),
        "recovery" => string(database.options.recovery.name()),
        "updateability" => string("READ_WRITE"),
        "useraccess" => string(database.options.user_access.name()),
        "version" => int(DATABASE_VERSION),
        "lastgoodcheckdbtime" => {
            let database = call.host.server.database_by_id(database.id);
            Ok(database.map(|database| in_variant(SqlType::DateTime, last_good_check(&database))))
        }
        "compatibilitylevel" => int(COMPATIBILITY_LEVEL),
        "isansinullsenabled"
        | "isansipaddingenabled"
        | "isansiwarningsenabled"
        | "isquotedidentifiersenabled"
        | "isnullconcat"
        | "isarithmeticabortenabled"
        | "isxtpsupported" => int(1),
        "isautoclose"
        | "isautoshrink"
        | "isinstandby"
        | "isautocreatestatistics"
        | "isautoupdatestatistics"
        | "isfulltextenabled" => int(0),
        _ => Ok(None),
    }
}

/// DATABASEPROPERTY, which DATABASEPROPERTYEX has replaced: what is a number, and what is a word there as a number.
pub(super) fn older_database_property(call: &Call<'_>) -> Answer {
    let (Some(name), Some(property)) = (call.text(0), call.text(1)) else { return Ok(None) };
    let databases = call.host.server.databases();
    let found = databases.iter().find(|database| database.name.to_lowercase() == name.to_lowercase());
    let Some(database) = found else { return Ok(None) };
    let (state, options) = (database.state.name(), &database.options);
    let answer = match property.to_ascii_lowercase().as_str() {
        "isreadonly" | "isdetached" | "isemergencymode" | "isinload" | "isshutdown" | "isnotrecovered" => false,
        "isoffline" => state == "OFFLINE",
        "isinrecovery" => state == "RECOVERING",
        "issuspect" => state == "SUSPECT",
        "isbulkcopy" => options.recovery.name() == "BULK_LOGGED",
        "istrunclog" => options.recovery.name() == "SIMPLE",
        "issingleuser" => options.user_access.name() == "SINGLE_USER",
        "isdboonly" => options.user_access.name() == "RESTRICTED_USER",
        // What both functions know as a number.
        _ => return Ok(database_property(call)?.filter(|value| matches!(value, Value::Int(_)))),
    };
    Ok(flag(answer))
}

/// What OBJECTPROPERTY says of triggers, and of the tables and views that have them.
fn trigger_property(catalog: &Catalog, id: i32, property: &str) -> Option<Value> {
    let own = catalog.triggers().find(|trigger| trigger.module.object_id == id);
    let is = |ask: &dyn Fn(&Trigger) -> bool| own.and_then(|trigger| flag(ask(trigger)));
    let of_table = |event: TriggerEvent, counts: bool| {
        let count =
            catalog.triggers_of(id).filter(|trigger| trigger.events.contains(&event) && !trigger.instead_of).count();
        let count = i32::try_from(count).unwrap_or(i32::MAX);
        if counts { Some(Value::Int(count)) } else { flag(count > 0) }
    };
    match property {
        "istrigger" => flag(own.is_some()),
        "execisinserttrigger" => is(&|trigger| trigger.events.contains(&TriggerEvent::Insert)),
        "execisupdatetrigger" => is(&|trigger| trigger.events.contains(&TriggerEvent::Update)),
        "execisdeletetrigger" => is(&|trigger| trigger.events.contains(&TriggerEvent::Delete)),
        "execisaftertrigger" => is(&|trigger| !trigger.instead_of),
        "execisinsteadoftrigger" => is(&|trigger| trigger.instead_of),
        "execistriggerdisabled" => is(&|trigger| trigger.disabled),
        "execistriggernotforrepl" => is(&|trigger| trigger.not_for_replication),
        "execisfirstinserttrigger" => is(&|trigger| trigger.first.contains(&TriggerEvent::Insert)),
        "execisfirstupdatetrigger" => is(&|trigger| trigger.first.contains(&TriggerEvent::Update)),
        "execisfirstdeletetrigger" => is(&|trigger| trigger.first.contains(&TriggerEvent::Delete)),
        "execislastinserttrigger" => is(&|trigger| trigger.last.contains(&TriggerEvent::Insert)),
        "execislastupdatetrigger" => is(&|trigger| trigger.last.contains(&TriggerEvent::Update)),
        "execislastdeletetrigger" => is(&|trigger| trigger.last.contains(&TriggerEvent::Delete)),
        "tablehasinserttrigger" => of_table(TriggerEvent::Insert, false),
        "tablehasupdatetrigger" => of_table(TriggerEvent::Update, false),
        "tablehasdeletetrigger" => of_table(TriggerEvent::Delete, false),
        "tableinserttriggercount" => of_table(TriggerEvent::Insert, true),
        "tableupdatetriggercount" => of_table(TriggerEvent::Update, true),
        "tabledeletetriggercount" => of_table(TriggerEvent::Delete, true),
        _ => None,
    }
}

/// A SET option that a module was made under; NULL for what is no module.
fn module_setting(catalog: &Catalog, id: i32, ask: fn(&Module) -> bool) -> Option<Value> {
    let module = catalog.modules().find(|module| module.object_id == id)?;
    flag(ask(module))
}

/// Whether the index behind a key's constraint is the clustered one; NULL for what is no key.
fn key_is_clustered(catalog: &Catalog, id: i32) -> Option<bool> {
    let mut indexes = catalog.tables().flat_map(|table| &table.indexes);
    indexes.find(|index| index.constraint && index.constraint_id == id).map(|index| index.clustered)
}

pub(super) fn object_property(call: &Call<'_>) -> Answer {
    let catalog = call.catalog();
    let (Some(id), Some(property)) = (call.number(0), call.text(1)) else { return Ok(None) };
    let Some(object) = names::by_id(&catalog, id) else { return Ok(None) };
    let (code, table) = (object.code, catalog.table_by_id(id));
    let of_table = |ask: fn(&Table) -> bool| table.map(|table| ask(table)).unwrap_or(false);
    Ok(match property.to_ascii_lowercase().as_str() {
        "istable" => flag(code == "U "),
        "isusertable" => flag(code == "U "),
        "isview" => flag(code == "V "),
        "isprocedure" => flag(code == "P "),
        "isprimarykey" => flag(code == "PK"),
        "isuniquecnst" => flag(code == "UQ"),
        "isdefaultcnst" => flag(code == "D "),
        "isconstraint" => flag(matches!(code, "PK" | "UQ" | "D " | "C " | "F ")),
        "cnstisclustkey" => key_is_clustered(&catalog, id).and_then(flag),
        "cnstisnonclustkey" => key_is_clustered(&catalog, id).and_then(|clustered| flag(!clustered)),
        "isschemabound" => schema_bound(&catalog, id),
        "isencrypted" => module_says(&catalog, id, "ENCRYPTION"),
        "isdeterministic" => match catalog.object_by_id(id) {
            Some(Object::View(module) | Object::Function(module)) => {
                flag(module_is_deterministic(module, call.context, call.host))
            }
            _ => None,
        },
        "isexecuted" => flag(matches!(code, "P " | "V " | "FN" | "IF" | "TF" | "TR")),
        "isrule"
        | "isextendedproc"
        | "isreplproc"
        | "isqueue"
        | "tableisfake"
        | "tableispinned"
        | "tablehasrowguidcol"
        | "tablehastextimage"
        | "tablehasactivefulltextindex"
        | "isindexed"
        | "isindexable"
        | "tablefulltextcatalogid"
        | "tablehasvardecimalstorageformat"
        | "tablehascolumnset" => flag(false),
        "tablehasuniquecnst" => {
            flag(of_table(|table| table.indexes.iter().any(|index| index.constraint && !index.primary_key)))
        }
        "tablehasnonclustindex" => flag(of_table(|table| table.indexes.iter().any(|index| !index.clustered))),
        "tablehasdefaultcnst" => flag(of_table(|table| table.columns.iter().any(|column| column.default.is_some()))),
        "isansinullson" if table.is_none() => module_setting(&catalog, id, |module| module.ansi_nulls),
        "isquotedidenton" if table.is_none() => module_setting(&catalog, id, |module| module.quoted_identifier),
        "isansinullson" | "isquotedidenton" => flag(true),
        "tableisansinullson" | "tableisquotedidenton" => flag(table.is_some()),
        "isuserdefinedtype" => flag(code == "TT"),
        "ismsshipped" | "issystemtable" => flag(id < 0),
        "tabletemporaltype" => table.map(|table| {
            Value::Int(match table.versioning {
                None => 0,
                Some(Versioning::History { .. }) => 1,
                Some(Versioning::Current { .. }) => 2,
            })
        }),
        "tableismemoryoptimized" => flag(of_table(|table| table.is_in_memory())),
        "isscalarfunction" => flag(code == "FN"),
        "istablefunction" => flag(matches!(code, "IF" | "TF")),
        "isinlinefunction" => flag(code == "IF"),
        "ischeckcnst" => flag(code == "C "),
        "isforeignkey" => flag(code == "F "),
        "tablehasforeignkey" => flag(of_table(|table| !table.foreign_keys.is_empty())),
        "tablehascheckcnst" => flag(of_table(|table| !table.checks.is_empty())),
        "tablehasforeignref" => flag(catalog.references_to(id).next().is_some()),
        "tablehastimestamp" => flag(of_table(|table| table.columns.iter().any(|column| column.rowversion))),
        "tablehasprimarykey" => flag(of_table(|table| table.indexes.iter().any(|index| index.primary_key))),
        "tablehasidentity" => flag(of_table(|table| table.identity_column().is_some())),
        "tablehasclustindex" => flag(of_table(|table| table.indexes.iter().any(pikepole_engine::Index::is_clustered))),
        "tablehasindex" => flag(of_table(|table| !table.indexes.is_empty())),
        property if property.contains("trigger") => trigger_property(&catalog, id, property),
        "execisansinullson" => module_setting(&catalog, id, |module| module.ansi_nulls),
        "execisquotedidenton" => module_setting(&catalog, id, |module| module.quoted_identifier),
        "schemaid" => catalog.schema(&object.schema).map(|schema| Value::Int(schema.schema_id)),
        "ownerid" => Some(Value::Int(1)),
        _ => None,
    })
}

pub(super) fn column_property(call: &Call<'_>) -> Answer {
    let (Some(object_id), Some(column), Some(property)) = (call.number(0), call.text(1), call.text(2)) else {
        return Ok(None);
    };
    let property = property.to_ascii_lowercase();
    let (table, catalog) = (call.table_by_id(object_id), call.catalog());
    // The table of a table type has columns too.
    let of_type = || catalog.table_shapes().find(|shape| shape.object_id == object_id);
    let Some(table) = table.as_deref().map(|table| -> &TableRecord { table }).or_else(of_type) else {
        return Ok(view_column_property(call, object_id, column, &property));
    };
    let Some(place) = table.column(column) else { return Ok(None) };
    let column = &table.columns[place];
    Ok(match property.as_str() {
        "isidentity" => flag(column.identity.is_some()),
        "iscomputed" => flag(column.computed.is_some()),
        "issparse" => flag(column.sparse),
        "ishidden" => flag(column.hidden),
        "ismasked" => flag(column.mask.is_some()),
        "generatedalwaystype" => Some(Value::Int(column.generated.map_or(0, |bound| bound as i32))),
        "columnid" => Some(Value::Int(column.number(place))),
        "isdeterministic" | "isprecise" | "issystemverified" | "systemdataaccess" | "userdataaccess" => {
            let traits = column_traits(table, place, call.context, call.host);
            traits.and_then(|traits| computed_property(property.as_str(), traits))
        }
        "isindexable" => {
            let is_key = check_key_column(table, place, ("", ""), call.context, call.host).is_ok();
            flag(is_key && may_be_key(&column.ty))
        }
        property => any_column_property(property, place, &column.ty, column.nullable),
    })
}

/// What is told of a computed column's values. They are computed of their row alone.
fn computed_property(property: &str, traits: Traits) -> Option<Value> {
    match property {
        "isdeterministic" => flag(traits.deterministic),
        "isprecise" => flag(traits.precise),
        "issystemverified" => flag(true),
        _ => flag(false),
    }
}

/// Whether values of a type can be keys of indexes.
fn may_be_key(ty: &SqlType) -> bool {
    let is_long = ty.declared_length() == Some(Length::Max) || ty.is_text_or_image();
    !is_long && ty.is_comparable()
}

/// The same of a column of a view, which is never one that is dealt, computed or hidden itself.
fn view_column_property(call: &Call<'_>, object_id: i32, column: &str, property: &str) -> Option<Value> {
    let catalog = call.catalog();
    let Some(Object::View(view)) = catalog.object_by_id(object_id) else { return None };
    let columns = call.host.columns_of_view(&view.schema, &view.name, call.context)?;
    let place = columns.iter().position(|own| own.name.to_lowercase() == column.to_lowercase())?;
    let column = &columns[place];
    match property {
        "isidentity" | "iscomputed" | "issparse" | "ishidden" | "ismasked" => flag(false),
        "generatedalwaystype" => Some(Value::Int(0)),
        "isdeterministic" => flag(module_is_deterministic(view, call.context, call.host)),
        property => any_column_property(property, place, &column.ty, column.nullable),
    }
}

/// What every column has: its place, its type and whether it takes NULL.
fn any_column_property(property: &str, place: usize, ty: &SqlType, nullable: bool) -> Option<Value> {
    match property {
        "allowsnull" => flag(nullable),
        // Columns that are dropped leave gaps in their numbers, and none in their order.
        "columnid" | "ordinal" => Some(Value::Int(place as i32 + 1)),
        "isrowguidcol" | "isidnotforrepl" => flag(false),
        "precision" => Some(Value::Int(match ty.declared_length() {
            Some(Length::Limit(length)) => length.into(),
            Some(Length::Max) => -1,
            None => ty.precision().into(),
        })),
        "scale" => Some(Value::Int(ty.scale().into())),
        "charmaxlen" => match (ty.units_max(), ty.declared_length()) {
            (Some(units), _) => Some(Value::Int(units)),
            (None, Some(Length::Limit(length))) => Some(Value::Int(length.into())),
            (None, Some(Length::Max)) => Some(Value::Int(-1)),
            (None, None) => None,
        },
        "usesansitrim" => ty.is_string().then_some(Value::Int(1)),
        _ => None,
    }
}

pub(super) fn index_property(call: &Call<'_>) -> Answer {
    let catalog = call.catalog();
    let (Some(object_id), Some(name), Some(property)) = (call.number(0), call.text(1), call.text(2)) else {
        return Ok(None);
    };
    let Some(table) = catalog.table_by_id(object_id) else { return Ok(None) };
    let found = table.indexes.iter().find(|index| index.name.to_lowercase() == name.to_lowercase());
    let Some(index) = found else { return Ok(None) };
    Ok(match property.to_ascii_lowercase().as_str() {
        "indexid" => Some(Value::Int(index.index_id)),
        "isclustered" => flag(index.is_clustered()),
        "isunique" => flag(index.unique),
        "iscolumnstore" => flag(index.columnstore.is_some()),
        "isdisabled" => flag(index.is_disabled()),
        "ishypothetical" => flag(index.hypothetical.is_some()),
        "isfulltextkey" | "isstatistics" | "ispadindex" => flag(false),
        "indexfillfactor" => Some(Value::Int(0)),
        _ => None,
    })
}

/// OBJECTPROPERTYEX: what OBJECTPROPERTY says, and the kind of an object, or of what a synonym stands for.
pub(super) fn object_property_ex(call: &Call<'_>) -> Answer {
    if !call.text(1).is_some_and(|property| property.eq_ignore_ascii_case("BaseType")) {
        return object_property(call);
    }
    let catalog = call.catalog();
    let Some(object) = call.number(0).and_then(|id| names::by_id(&catalog, id)) else { return Ok(None) };
    if object.code != "SN" {
        return string(object.code);
    }
    let mut stands = catalog.synonyms().filter(|synonym| synonym.object_id == object.object_id);
    let base = stands.next().and_then(|synonym| names::parts(&synonym.text));
    let Some((parts, (_, catalog))) = base.and_then(|parts| call.catalog_of(&parts).map(|found| (parts, found))) else {
        return Ok(None);
    };
    Ok(names::find(&catalog, parts.schema.as_deref(), &parts.name).map(|found| Value::from(found.code)))
}

/// What a module's WITH says; none of what is no module.
fn module_says(catalog: &Catalog, id: i32, option: &str) -> Option<Value> {
    let module = catalog.modules().find(|module| module.object_id == id)?;
    flag(modules::says(&module.text, option))
}

fn schema_bound(catalog: &Catalog, id: i32) -> Option<Value> {
    module_says(catalog, id, "SCHEMABINDING")
}

/// When the definitions of what belongs to the system changed last: the day of the version that [`PRODUCT_VERSION`] is.
fn product_date() -> Option<Value> {
    /// 2022-10-08 in days since 1900-01-01, and the units that a `datetime` has in a day.
    const DAY: i64 = 44_840;
    const UNITS_OF_DAY: i64 = 86_400 * 300;
    let value = Value::DateTime(DateTime::from_ticks(DAY * UNITS_OF_DAY)?);
    Some(Value::Variant(Box::new(Variant::new(SqlType::DateTime, value)?)))
}

/// TYPEPROPERTY: digits of a type, by its name.
pub(super) fn type_property(call: &Call<'_>) -> Answer {
    let (Some(parts), Some(property)) = (call.text(0).and_then(names::parts), call.text(1)) else { return Ok(None) };
    let name = parts.name.to_ascii_lowercase();
    let is_system = parts.schema.as_ref().is_none_or(|schema| schema.eq_ignore_ascii_case("sys"));
    let system =
        TYPES.iter().find(|ty| ty.name() == name).or_else(|| SecondName::by_name(&name).map(|second| &second.ty));
    let catalog = call.catalog();
    let own = || match &catalog.user_type(parts.schema.as_deref().unwrap_or("dbo"), &parts.name)?.kind {
        UserTypeKind::Alias { ty, nullable, .. } => Some((*ty, *nullable)),
        _ => None,
    };
    let Some((ty, nullable)) = system.filter(|_| is_system).map(|ty| (*ty, true)).or_else(own) else { return Ok(None) };
    Ok(match property.to_ascii_lowercase().as_str() {
        "allowsnull" => flag(nullable),
        "ownerid" => Some(Value::Int(1)),
        "precision" => Some(Value::Int(match ty.declared_length() {
            Some(Length::Limit(length)) => length.into(),
            Some(Length::Max) => -1,
            None => ty.precision().into(),
        })),
        "scale" => (ty.is_number() || ty.is_date_or_time()).then_some(Value::Int(ty.scale().into())),
        "usesansitrim" => (ty.is_string() || ty.is_binary()).then_some(Value::Int(1)),
        _ => None,
    })
}

/// INDEXKEY_PROPERTY: the column of a key's place, and whether it descends.
pub(super) fn index_key_property(call: &Call<'_>) -> Answer {
    let (Some(object_id), Some(index_id), Some(key)) = (call.number(0), call.number(1), call.number(2)) else {
        return Ok(None);
    };
    let (Some(table), Some(property)) = (call.table_by_id(object_id), call.text(3)) else { return Ok(None) };
    let index = table.indexes.iter().find(|index| index.index_id == index_id);
    let place = key.checked_sub(1).and_then(|place| usize::try_from(place).ok());
    let Some(column) = index.zip(place).and_then(|(index, place)| index.columns.get(place)) else { return Ok(None) };
    Ok(match property.to_ascii_lowercase().as_str() {
        "columnid" => Some(Value::Int(column.column as i32 + 1)),
        "isdescending" => flag(column.descending),
        _ => None,
    })
}
