//! Rewrites and choices, a file each, under the names of [`super::RULES`] or what their code is shared by.

pub(crate) mod aggregate_decorrelation;
pub(crate) mod common_table_spool;
pub(crate) mod constant_sort_keys;
pub(crate) mod early_semi_join;
pub(crate) mod index_seek;
pub(crate) mod join_decorrelation;
pub(crate) mod join_order;
pub(crate) mod memoize;
pub(crate) mod outer_to_inner_join;
pub(crate) mod predicate_pushdown;
pub(crate) mod semi_join_reduction;
