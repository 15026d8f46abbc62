//! What a definition is to those who watch: events with the names of what they happen to.

use super::Definer;
use pikepole_engine::{DefinitionEvent, Object};
use pikepole_tsql::{self as tree, DropKind, ObjectName, Statement, StatementKind};

/// One event of a definition.
pub(crate) struct Happening {
    pub(crate) event: &'static DefinitionEvent,
    /// Empty: what it happens to is in no schema.
    pub(crate) schema: String,
    pub(crate) object: String,
    /// What kind of object that is, as EVENTDATA() says it.
    pub(crate) kind: &'static str,
    /// Of an index and a trigger: what it is on, and what kind that is.
    pub(crate) target: Option<(String, &'static str)>,
}

fn verb(mode: tree::ModuleMode, exists: bool) -> &'static str {
    match mode {
        tree::ModuleMode::Create => "CREATE",
        tree::ModuleMode::Alter => "ALTER",
        tree::ModuleMode::CreateOrAlter if exists => "ALTER",
        tree::ModuleMode::CreateOrAlter => "CREATE",
    }
}

/// What happens to a partition function or scheme, which is in no schema.
fn of_partition(statement: &tree::PartitionStatement) -> Option<Happening> {
    use tree::PartitionStatement as P;
    let (event, kind, name) = match statement {
        P::CreateFunction { name, .. } => ("CREATE_PARTITION_FUNCTION", "PARTITION FUNCTION", name),
        P::AlterFunction { name, .. } => ("ALTER_PARTITION_FUNCTION", "PARTITION FUNCTION", name),
        P::CreateScheme { name, .. } => ("CREATE_PARTITION_SCHEME", "PARTITION SCHEME", name),
        P::AlterScheme { name, .. } => ("ALTER_PARTITION_SCHEME", "PARTITION SCHEME", name),
        P::Drop { scheme: true, name } => ("DROP_PARTITION_SCHEME", "PARTITION SCHEME", name),
        P::Drop { scheme: false, name } => ("DROP_PARTITION_FUNCTION", "PARTITION FUNCTION", name),
    };
    let event = DefinitionEvent::by_name(event)?;
    Some(Happening { event, schema: String::new(), object: name.text.clone(), kind, target: None })
}

/// The kinds of objects that DROP takes from a schema.
fn dropped_kind(kind: DropKind) -> Option<&'static str> {
    Some(match kind {
        DropKind::Table => "TABLE",
        DropKind::View => "VIEW",
        DropKind::Procedure => "PROCEDURE",
        DropKind::Function => "FUNCTION",
        DropKind::Trigger => "TRIGGER",
        DropKind::Schema => "SCHEMA",
        DropKind::Type => "TYPE",
        DropKind::SchemaCollection => "XML SCHEMA COLLECTION",
        DropKind::Sequence => "SEQUENCE",
        DropKind::Synonym => "SYNONYM",
        DropKind::SecurityPolicy => "SECURITY POLICY",
        _ => return None,
    })
}

impl Definer<'_> {
    /// The events of a definition that is about to be made; of what it drops if it is there, those that are there.
    pub(super) fn happenings(&self, statement: &Statement) -> Vec<Happening> {
        let one = |verb: &str, kind: &'static str, name: &ObjectName| self.happening(verb, kind, name);
        let module = |mode: tree::ModuleMode, kind: &'static str, name: &ObjectName| {
            self.happening(verb(mode, self.is_there(name)), kind, name)
        };
        let found = match &statement.kind {
            StatementKind::CreateTable(create) => one("CREATE", "TABLE", &create.name),
            StatementKind::AlterTable(alter) => one("ALTER", "TABLE", &alter.table),
            StatementKind::CreateIndex(create) => self.of_index("CREATE", &create.name.text, &create.table),
            StatementKind::AlterIndex(alter) => {
                self.of_index("ALTER", alter.name.as_ref().map_or("ALL", tree::Name::as_str), &alter.table)
            }
            StatementKind::DropIndex(drop) => {
                let of = drop.indexes.iter().filter_map(|index| self.of_index("DROP", &index.name.text, &index.table));
                return of.collect();
            }
            StatementKind::CreateProcedure(create) => module(create.mode, "PROCEDURE", &create.name),
            StatementKind::CreateView(create) => module(create.mode, "VIEW", &create.name),
            StatementKind::CreateFunction(create) => module(create.mode, "FUNCTION", &create.name),
            StatementKind::CreateTrigger(create) => self.of_trigger(create),
            StatementKind::CreateType(create) => match create.kind {
                tree::TypeKind::SchemaCollection { add, .. } => {
                    one(if add { "ALTER" } else { "CREATE" }, "XML SCHEMA COLLECTION", &create.name)
                }
                _ => one("CREATE", "TYPE", &create.name),
            },
            StatementKind::CreateSequence(create) => {
                one(if create.alter { "ALTER" } else { "CREATE" }, "SEQUENCE", &create.name)
            }
            StatementKind::CreateSynonym(create) => one("CREATE", "SYNONYM", &create.name),
            StatementKind::SecurityPolicy(policy) => {
                one(if policy.alter { "ALTER" } else { "CREATE" }, "SECURITY POLICY", &policy.name)
            }
            StatementKind::Partition(partition) => of_partition(partition),
            StatementKind::CreateSchema(create) => {
                let name = create.name.as_ref().or(create.owner.as_ref());
                name.and_then(|name| self.of_schema("CREATE", &name.text))
            }
            StatementKind::TransferToSchema(transfer) => {
                let event = DefinitionEvent::by_name("ALTER_SCHEMA");
                let (schema, object) = (transfer.schema.text.clone(), transfer.object.name.text.clone());
                event.map(|event| Happening { event, schema, object, kind: "OBJECT", target: None })
            }
            StatementKind::ChangeOwner(change) => {
                let event = DefinitionEvent::by_name("ALTER_AUTHORIZATION_DATABASE");
                let (schema, object) = (self.schema_shown(&change.name), change.name.name.text.clone());
                event.map(|event| Happening { event, schema, object, kind: "OBJECT", target: None })
            }
            StatementKind::Drop(drop) => return self.of_drop(drop),
            _ => None,
        };
        found.into_iter().collect()
    }

    pub(super) fn happening(&self, verb: &str, kind: &'static str, name: &ObjectName) -> Option<Happening> {
        if name.is_temporary() {
            return None;
        }
        let event = DefinitionEvent::by_name(&format!("{verb}_{}", kind.replace(' ', "_")))?;
        Some(Happening { event, schema: self.schema_shown(name), object: name.name.text.clone(), kind, target: None })
    }

    fn of_schema(&self, verb: &str, name: &str) -> Option<Happening> {
        let event = DefinitionEvent::by_name(&format!("{verb}_SCHEMA"))?;
        Some(Happening { event, schema: name.to_owned(), object: name.to_owned(), kind: "SCHEMA", target: None })
    }

    fn of_index(&self, verb: &str, name: &str, table: &ObjectName) -> Option<Happening> {
        let happening = self.happening(verb, "INDEX", table)?;
        let target = Some((happening.object, "TABLE"));
        Some(Happening { object: name.to_owned(), target, ..happening })
    }

    fn of_trigger(&self, create: &tree::CreateTrigger) -> Option<Happening> {
        let (schema, target, exists) = match &create.on {
            tree::TriggerTarget::Table(name) => {
                let kind = match self.context.catalog().view(name) {
                    Ok(Some(_)) => "VIEW",
                    _ => "TABLE",
                };
                (self.schema_shown(name), (name.name.text.clone(), kind), self.is_there(&create.name))
            }
            _ => {
                let view = self.context.catalog();
                let exists = view.catalog.definition_trigger(&create.name.name.text).is_some();
                (String::new(), (String::new(), "Database"), exists)
            }
        };
        let happening = self.happening(verb(create.mode, exists), "TRIGGER", &create.name)?;
        Some(Happening { schema, target: Some(target), ..happening })
    }

    fn of_drop(&self, drop: &tree::Drop) -> Vec<Happening> {
        let Some(kind) = dropped_kind(drop.kind) else { return Vec::new() };
        let view = self.context.catalog();
        let of_one = |name: &ObjectName| {
            let of_database = drop.trigger_on.is_some();
            let exists = match drop.kind {
                DropKind::Schema => view.catalog.schema(&name.name.text).is_some(),
                DropKind::Type => view.catalog.user_type(&self.schema_shown(name), &name.name.text).is_some(),
                DropKind::SchemaCollection => {
                    view.catalog.schema_collection(&self.schema_shown(name), &name.name.text).is_some()
                }
                _ if of_database => view.catalog.definition_trigger(&name.name.text).is_some(),
                _ => self.is_there(name),
            };
            let happening = match drop.kind {
                DropKind::Schema => self.of_schema("DROP", &name.name.text),
                _ => self.happening("DROP", kind, name),
            };
            let happening = happening.filter(|_| exists || !drop.if_exists)?;
            if drop.kind != DropKind::Trigger {
                return Some(happening);
            }
            let target = match view.catalog.trigger(&happening.schema, &name.name.text) {
                Some(trigger) if !of_database => view.catalog.object_by_id(trigger.parent_id).map(|parent| {
                    let kind = if matches!(parent, Object::View(_)) { "VIEW" } else { "TABLE" };
                    (parent.name().to_owned(), kind)
                }),
                _ => Some((String::new(), "Database")),
            };
            let schema = if of_database { String::new() } else { happening.schema.clone() };
            Some(Happening { schema, target, ..happening })
        };
        drop.names.iter().filter_map(of_one).collect()
    }

    fn is_there(&self, name: &ObjectName) -> bool {
        let view = self.context.catalog();
        view.catalog.object(&self.schema_shown(name), &name.name.text).is_some()
    }

    /// The schema of an object by this name.
    fn schema_shown(&self, name: &ObjectName) -> String {
        self.schema_of(name, false).unwrap_or_else(|_| name.schema_str().unwrap_or("dbo").to_owned())
    }
}
