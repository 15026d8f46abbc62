//! `sp_table_privileges` and `sp_column_privileges`: who may do what with tables, as ODBC and JDBC ask for it.

use super::Arguments;
use super::odbc::{is, matches};
use crate::result_set::{NAME, ResultSet, string, text};
use crate::security;
use pikepole_engine::{Catalog, Class, DBO, GrantState, Permission, Principal, Securable, Table};
use pikepole_query::{ExecutionContext, Output};
use pikepole_types::Value;
use std::sync::Arc;

/// What may be granted on a table, in the order of the answer, and whether it may be had for single columns.
const PRIVILEGES: [(&str, bool); 5] =
    [("DELETE", false), ("INSERT", true), ("REFERENCES", true), ("SELECT", true), ("UPDATE", true)];

/// One privilege on a table: who gave it to whom.
struct Given {
    grantor: String,
    grantee: String,
    privilege: &'static str,
    grantable: bool,
    columns: bool,
    /// The number of the only column that it is on; zero: the table.
    column: i32,
    /// The columns that the grantee was told something else of.
    but: Vec<i32>,
}

impl Given {
    fn is_of_column(&self, number: i32) -> bool {
        self.columns && if self.column == 0 { !self.but.contains(&number) } else { self.column == number }
    }
}

/// The privileges on a table: those of the owner of its schema, and those granted on the table itself and on its columns.
fn given_on(catalog: &Catalog, table: &Table, sees: impl Fn(&Principal) -> bool) -> Vec<Given> {
    let users = catalog.users();
    let name = |id: i32| users.get(id).map_or_else(String::new, |principal| principal.name.clone());
    let owner = catalog.schema_by_id(table.schema_id).map_or(DBO, |schema| schema.owner);
    let own = PRIVILEGES.iter().map(|(privilege, columns)| Given {
        grantor: name(owner),
        grantee: name(owner),
        privilege,
        grantable: true,
        columns: *columns,
        column: 0,
        but: Vec::new(),
    });
    let mut given: Vec<Given> = own.collect();
    for principal in users.iter().filter(|principal| sees(principal)) {
        for grant in &principal.grants {
            let on_table = grant.class == Class::Object && grant.major == table.object_id;
            let privilege = PRIVILEGES.iter().find(|(privilege, _)| *privilege == grant.permission.name());
            let Some((privilege, columns)) = privilege.filter(|_| on_table && grant.state.grants()) else {
                continue;
            };
            let told = principal.grants.iter().filter(|other| {
                (other.class, other.major, other.permission) == (grant.class, grant.major, grant.permission)
            });
            given.push(Given {
                grantor: name(grant.grantor),
                grantee: principal.name.clone(),
                privilege,
                grantable: grant.state == GrantState::GrantWithGrantOption,
                columns: *columns,
                column: grant.column,
                but: told.map(|other| other.column).filter(|column| *column != 0).collect(),
            });
        }
    }
    given
}

/// Which principals' grants the session sees: its own, or all for who may see definitions.
fn seen(context: &ExecutionContext) -> impl Fn(&Principal) -> bool + '_ {
    let token = context.token();
    let all = token.has(Permission::ViewDefinition, Securable::Database);
    move |principal| all || token.database_ids().contains(&principal.id)
}

fn tables<'a>(
    catalog: &'a Catalog,
    name: Option<&'a str>,
    owner: Option<&'a str>,
    fits: fn(Option<&str>, &str) -> bool,
) -> impl Iterator<Item = &'a Arc<Table>> {
    catalog.tables().filter(move |table| fits(name, &table.name) && fits(owner, &table.schema))
}

fn yes_or_no(grantable: bool) -> Value {
    string(if grantable { "YES" } else { "NO" })
}

/// `sp_table_privileges`: of tables whose names match patterns.
pub(super) fn of_tables(arguments: &Arguments<'_>, context: &ExecutionContext, output: &mut dyn Output) {
    let mut set = ResultSet::new(&[
        ("TABLE_QUALIFIER", NAME),
        ("TABLE_OWNER", NAME),
        ("TABLE_NAME", NAME),
        ("GRANTOR", NAME),
        ("GRANTEE", NAME),
        ("PRIVILEGE", text(32)),
        ("IS_GRANTABLE", text(3)),
    ]);
    let catalog = security::catalog(context);
    let (name, owner) = (arguments.text(0), arguments.text(1));
    let fits = if arguments.text(3).as_deref() == Some("0") { is } else { matches };
    for table in tables(&catalog, name.as_deref(), owner.as_deref(), fits) {
        let given = given_on(&catalog, table, seen(context)).into_iter();
        for given in given.filter(|given| given.column == 0) {
            set.push(vec![
                string(context.database().name()),
                string(&table.schema),
                string(&table.name),
                string(given.grantor),
                string(given.grantee),
                string(given.privilege),
                yes_or_no(given.grantable),
            ]);
        }
    }
    set.send(output);
}

/// `sp_column_privileges`: of the columns of one table whose names match a pattern.
pub(super) fn of_columns(arguments: &Arguments<'_>, context: &ExecutionContext, output: &mut dyn Output) {
    let mut set = ResultSet::new(&[
        ("TABLE_QUALIFIER", NAME),
        ("TABLE_OWNER", NAME),
        ("TABLE_NAME", NAME),
        ("COLUMN_NAME", NAME),
        ("GRANTOR", NAME),
        ("GRANTEE", NAME),
        ("PRIVILEGE", text(32)),
        ("IS_GRANTABLE", text(3)),
    ]);
    let catalog = security::catalog(context);
    let (name, owner, column) = (arguments.text(0), arguments.text(1), arguments.text(3));
    for table in tables(&catalog, name.as_deref(), owner.as_deref(), is) {
        let given = given_on(&catalog, table, seen(context));
        let columns = (1..).zip(&table.columns).filter(|(_, own)| matches(column.as_deref(), &own.name));
        for (number, own) in columns {
            for given in given.iter().filter(|given| given.is_of_column(number)) {
                set.push(vec![
                    string(context.database().name()),
                    string(&table.schema),
                    string(&table.name),
                    string(&own.name),
                    string(&given.grantor),
                    string(&given.grantee),
                    string(given.privilege),
                    yes_or_no(given.grantable),
                ]);
            }
        }
    }
    set.send(output);
}
