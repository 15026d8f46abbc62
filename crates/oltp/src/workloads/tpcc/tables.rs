//! The tables of TPC-C.

use crate::schema::{DATETIME, INT, Table, char, column, decimal, nullable, varchar};

/// The tables.
pub const TABLES: &[Table] = &[WAREHOUSE, DISTRICT, CUSTOMER, HISTORY, ITEM, STOCK, OORDER, NEW_ORDER, ORDER_LINE];

const WAREHOUSE: Table = Table {
    name: "warehouse",
    columns: &[
        column("w_id", INT),
        column("w_ytd", decimal(12, 2)),
        column("w_tax", decimal(4, 4)),
        column("w_name", varchar(10)),
        column("w_street_1", varchar(20)),
        column("w_street_2", varchar(20)),
        column("w_city", varchar(20)),
        column("w_state", char(2)),
        column("w_zip", char(9)),
    ],
    constraints: &["PRIMARY KEY (w_id)"],
    indexes: &[],
};

const DISTRICT: Table = Table {
    name: "district",
    columns: &[
        column("d_w_id", INT),
        column("d_id", INT),
        column("d_ytd", decimal(12, 2)),
        column("d_tax", decimal(4, 4)),
        column("d_next_o_id", INT),
        column("d_name", varchar(10)),
        column("d_street_1", varchar(20)),
        column("d_street_2", varchar(20)),
        column("d_city", varchar(20)),
        column("d_state", char(2)),
        column("d_zip", char(9)),
    ],
    constraints: &["PRIMARY KEY (d_w_id, d_id)"],
    indexes: &[],
};

const CUSTOMER: Table = Table {
    name: "customer",
    columns: &[
        column("c_w_id", INT),
        column("c_d_id", INT),
        column("c_id", INT),
        column("c_discount", decimal(4, 4)),
        column("c_credit", char(2)),
        column("c_last", varchar(16)),
        column("c_first", varchar(16)),
        column("c_credit_lim", decimal(12, 2)),
        column("c_balance", decimal(12, 2)),
        column("c_ytd_payment", decimal(12, 2)),
        column("c_payment_cnt", INT),
        column("c_delivery_cnt", INT),
        column("c_street_1", varchar(20)),
        column("c_street_2", varchar(20)),
        column("c_city", varchar(20)),
        column("c_state", char(2)),
        column("c_zip", char(9)),
        column("c_phone", char(16)),
        column("c_since", DATETIME),
        column("c_middle", char(2)),
        column("c_data", varchar(500)),
    ],
    constraints: &["PRIMARY KEY (c_w_id, c_d_id, c_id)"],
    indexes: &[("idx_customer_name", "c_w_id, c_d_id, c_last, c_first")],
};

const HISTORY: Table = Table {
    name: "history",
    columns: &[
        column("h_c_id", INT),
        column("h_c_d_id", INT),
        column("h_c_w_id", INT),
        column("h_d_id", INT),
        column("h_w_id", INT),
        column("h_date", DATETIME),
        column("h_amount", decimal(6, 2)),
        column("h_data", varchar(24)),
    ],
    constraints: &[],
    indexes: &[],
};

const ITEM: Table = Table {
    name: "item",
    columns: &[
        column("i_id", INT),
        column("i_name", varchar(24)),
        column("i_price", decimal(5, 2)),
        column("i_data", varchar(50)),
        column("i_im_id", INT),
    ],
    constraints: &["PRIMARY KEY (i_id)"],
    indexes: &[],
};

const STOCK: Table = Table {
    name: "stock",
    columns: &[
        column("s_w_id", INT),
        column("s_i_id", INT),
        column("s_quantity", INT),
        column("s_ytd", decimal(8, 0)),
        column("s_order_cnt", INT),
        column("s_remote_cnt", INT),
        column("s_data", varchar(50)),
        column("s_dist_01", char(24)),
        column("s_dist_02", char(24)),
        column("s_dist_03", char(24)),
        column("s_dist_04", char(24)),
        column("s_dist_05", char(24)),
        column("s_dist_06", char(24)),
        column("s_dist_07", char(24)),
        column("s_dist_08", char(24)),
        column("s_dist_09", char(24)),
        column("s_dist_10", char(24)),
    ],
    constraints: &["PRIMARY KEY (s_w_id, s_i_id)"],
    indexes: &[],
};

const OORDER: Table = Table {
    name: "oorder",
    columns: &[
        column("o_w_id", INT),
        column("o_d_id", INT),
        column("o_id", INT),
        column("o_c_id", INT),
        nullable("o_carrier_id", INT),
        column("o_ol_cnt", INT),
        column("o_all_local", INT),
        column("o_entry_d", DATETIME),
    ],
    constraints: &["PRIMARY KEY (o_w_id, o_d_id, o_id)", "UNIQUE (o_w_id, o_d_id, o_c_id, o_id)"],
    indexes: &[],
};

const NEW_ORDER: Table = Table {
    name: "new_order",
    columns: &[column("no_w_id", INT), column("no_d_id", INT), column("no_o_id", INT)],
    constraints: &["PRIMARY KEY (no_w_id, no_d_id, no_o_id)"],
    indexes: &[],
};

const ORDER_LINE: Table = Table {
    name: "order_line",
    columns: &[
        column("ol_w_id", INT),
        column("ol_d_id", INT),
        column("ol_o_id", INT),
        column("ol_number", INT),
        column("ol_i_id", INT),
        nullable("ol_delivery_d", DATETIME),
        column("ol_amount", decimal(6, 2)),
        column("ol_supply_w_id", INT),
        column("ol_quantity", INT),
        column("ol_dist_info", char(24)),
    ],
    constraints: &["PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)"],
    indexes: &[],
};
