//! The tables of TPC-H, in words that are the same in all dialects.

/// A table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns and its primary key.
    definition: &'static str,
}

impl Table {
    /// The statement that creates it.
    pub fn create(&self) -> String {
        format!("CREATE TABLE {} ({})", self.name, self.definition)
    }
}

/// Rows of `supplier` at scale 1, by which the scale of loaded tables is recognised.
pub const SUPPLIERS: f64 = 10_000.0;

/// The tables, the smallest first. Foreign keys and secondary indexes are left out.
pub const TABLES: [Table; 8] = [
    Table {
        name: "region",
        definition: "r_regionkey int NOT NULL, r_name char(25) NOT NULL, r_comment varchar(152) NOT NULL, \
            PRIMARY KEY (r_regionkey)",
    },
    Table {
        name: "nation",
        definition: "n_nationkey int NOT NULL, n_name char(25) NOT NULL, n_regionkey int NOT NULL, \
            n_comment varchar(152) NOT NULL, PRIMARY KEY (n_nationkey)",
    },
    Table {
        name: "supplier",
        definition: "s_suppkey int NOT NULL, s_name char(25) NOT NULL, s_address varchar(40) NOT NULL, \
            s_nationkey int NOT NULL, s_phone char(15) NOT NULL, s_acctbal decimal(15,2) NOT NULL, \
            s_comment varchar(101) NOT NULL, PRIMARY KEY (s_suppkey)",
    },
    Table {
        name: "customer",
        definition: "c_custkey int NOT NULL, c_name varchar(25) NOT NULL, c_address varchar(40) NOT NULL, \
            c_nationkey int NOT NULL, c_phone char(15) NOT NULL, c_acctbal decimal(15,2) NOT NULL, \
            c_mktsegment char(10) NOT NULL, c_comment varchar(117) NOT NULL, PRIMARY KEY (c_custkey)",
    },
    Table {
        name: "part",
        definition: "p_partkey int NOT NULL, p_name varchar(55) NOT NULL, p_mfgr char(25) NOT NULL, \
            p_brand char(10) NOT NULL, p_type varchar(25) NOT NULL, p_size int NOT NULL, p_container char(10) NOT NULL, \
            p_retailprice decimal(15,2) NOT NULL, p_comment varchar(23) NOT NULL, PRIMARY KEY (p_partkey)",
    },
    Table {
        name: "partsupp",
        definition: "ps_partkey int NOT NULL, ps_suppkey int NOT NULL, ps_availqty int NOT NULL, \
            ps_supplycost decimal(15,2) NOT NULL, ps_comment varchar(199) NOT NULL, \
            PRIMARY KEY (ps_partkey, ps_suppkey)",
    },
    Table {
        name: "orders",
        definition: "o_orderkey bigint NOT NULL, o_custkey int NOT NULL, o_orderstatus char(1) NOT NULL, \
            o_totalprice decimal(15,2) NOT NULL, o_orderdate date NOT NULL, o_orderpriority char(15) NOT NULL, \
            o_clerk char(15) NOT NULL, o_shippriority int NOT NULL, o_comment varchar(79) NOT NULL, \
            PRIMARY KEY (o_orderkey)",
    },
    Table {
        name: "lineitem",
        definition: "l_orderkey bigint NOT NULL, l_partkey int NOT NULL, l_suppkey int NOT NULL, \
            l_linenumber int NOT NULL, l_quantity decimal(15,2) NOT NULL, l_extendedprice decimal(15,2) NOT NULL, \
            l_discount decimal(15,2) NOT NULL, l_tax decimal(15,2) NOT NULL, l_returnflag char(1) NOT NULL, \
            l_linestatus char(1) NOT NULL, l_shipdate date NOT NULL, l_commitdate date NOT NULL, \
            l_receiptdate date NOT NULL, l_shipinstruct char(25) NOT NULL, l_shipmode char(10) NOT NULL, \
            l_comment varchar(44) NOT NULL, PRIMARY KEY (l_orderkey, l_linenumber)",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_key() {
        assert!(TABLES.iter().all(|table| table.create().contains("PRIMARY KEY (")));
        assert!(TABLES[0].create().starts_with("CREATE TABLE region (r_regionkey int NOT NULL, r_name char(25)"));
    }
}
