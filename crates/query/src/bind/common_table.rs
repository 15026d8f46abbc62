//! Counts of the names of common tables.

use pikepole_tsql as tree;

/// For each table, the number of times that it would be bound: once for each name in `body`, in which the clause stands, and in those tables behind it that are
/// bound, as often as these are.
pub(super) fn names_of(tables: &[tree::CommonTable], body: &tree::QueryBody) -> Vec<usize> {
    let mut names: Vec<usize> = tables.iter().map(|table| names_in(body, &table.name)).collect();
    for (at, table) in tables.iter().enumerate().rev() {
        for (earlier, name) in tables[..at].iter().enumerate() {
            let more = names_in(&table.query.body, &name.name).saturating_mul(names[at]);
            names[earlier] = names[earlier].saturating_add(more);
        }
    }
    names
}

/// The number of times that a query names a table, as far as FROM and the subqueries of its list, WHERE and HAVING do.
pub(super) fn names_in(body: &tree::QueryBody, name: &tree::Name) -> usize {
    match body {
        tree::QueryBody::Select(select) => {
            let from: usize = select.from.iter().map(|source| names_in_source(source, name)).sum();
            from + names_in_subqueries(select, name)
        }
        tree::QueryBody::SetOperation(chain) => {
            let rest: usize = chain.rest.iter().map(|(_, body)| names_in(body, name)).sum();
            names_in(&chain.first, name) + rest
        }
        tree::QueryBody::Part(part) => names_in(&part.body, name),
        tree::QueryBody::Values(_) => 0,
    }
}

fn names_in_subqueries(select: &tree::Select, name: &tree::Name) -> usize {
    fn names_in_part(part: tree::Part<'_>, name: &tree::Name) -> usize {
        if let tree::Part::Query(query) = part {
            return names_in(&query.body, name);
        }
        let mut names = 0;
        part.each(&mut |inner| names += names_in_part(inner, name));
        names
    }
    let items = select.items.iter().filter_map(super::query::item_value).map(tree::Part::Expr);
    let conditions = select.filter.iter().chain(&select.having).map(tree::Part::Condition);
    items.chain(conditions).map(|part| names_in_part(part, name)).sum()
}

/// The same for a part of FROM.
pub(super) fn names_in_source(source: &tree::TableSource, name: &tree::Name) -> usize {
    match source {
        tree::TableSource::Table(table) => usize::from(table.name.schema.is_none() && name.is(&table.name.name.text)),
        tree::TableSource::Join(join) => names_in_source(&join.left, name) + names_in_source(&join.right, name),
        tree::TableSource::Derived(derived) => names_in(&derived.query.body, name),
        tree::TableSource::Pivot(pivot) => names_in_source(&pivot.source, name),
        tree::TableSource::Unpivot(unpivot) => names_in_source(&unpivot.source, name),
        tree::TableSource::Function(_) | tree::TableSource::Bulk(_) | tree::TableSource::Variable { .. } => 0,
    }
}
