//! The consistency conditions of TPC-C (3.3.2), but for the eleventh, which is about the initial rows alone.

use crate::schema::Dialect;
use crate::session::{Session, SessionError};

/// A condition: its number, its text, and a query for the rows that do not fulfil it.
struct Condition {
    number: u32,
    text: &'static str,
    violations: &'static str,
}

/// The result of a condition.
pub struct Verdict {
    /// Its number in 3.3.2.
    pub number: u32,
    /// Its text.
    pub text: &'static str,
    /// Rows that do not fulfil it.
    pub violations: i64,
}

const CONDITIONS: &[Condition] = &[
    Condition {
        number: 1,
        text: "W_YTD = sum(D_YTD)",
        violations: "SELECT COUNT(*) FROM warehouse WHERE w_ytd <> (SELECT SUM(d_ytd) FROM district WHERE d_w_id = w_id)",
    },
    Condition {
        number: 2,
        text: "D_NEXT_O_ID - 1 = max(O_ID) = max(NO_O_ID)",
        violations: "SELECT COUNT(*) FROM district
            LEFT JOIN (SELECT o_w_id, o_d_id, MAX(o_id) AS o_max FROM oorder GROUP BY o_w_id, o_d_id) o
                ON o_w_id = d_w_id AND o_d_id = d_id
            LEFT JOIN (SELECT no_w_id, no_d_id, MAX(no_o_id) AS no_max FROM new_order GROUP BY no_w_id, no_d_id) n
                ON no_w_id = d_w_id AND no_d_id = d_id
            WHERE o_max IS NULL OR o_max <> d_next_o_id - 1 OR no_max <> o_max",
    },
    Condition {
        number: 3,
        text: "max(NO_O_ID) - min(NO_O_ID) + 1 = rows of NEW-ORDER",
        violations: "SELECT COUNT(*) FROM (SELECT no_w_id, no_d_id FROM new_order GROUP BY no_w_id, no_d_id
            HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)) n",
    },
    Condition {
        number: 4,
        text: "sum(O_OL_CNT) = rows of ORDER-LINE",
        violations: "SELECT COUNT(*) FROM
            (SELECT o_w_id, o_d_id, SUM(o_ol_cnt) AS lines FROM oorder GROUP BY o_w_id, o_d_id) o
            LEFT JOIN (SELECT ol_w_id, ol_d_id, COUNT(*) AS found FROM order_line GROUP BY ol_w_id, ol_d_id) l
                ON ol_w_id = o_w_id AND ol_d_id = o_d_id
            WHERE found IS NULL OR found <> lines",
    },
    Condition {
        number: 5,
        text: "O_CARRIER_ID is null where a row of NEW-ORDER is, and only there",
        violations: "SELECT COUNT(*) FROM oorder LEFT JOIN new_order
            ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
            WHERE (o_carrier_id IS NULL AND no_o_id IS NULL) OR (o_carrier_id IS NOT NULL AND no_o_id IS NOT NULL)",
    },
    Condition {
        number: 6,
        text: "O_OL_CNT = rows of ORDER-LINE of the order",
        violations: "SELECT COUNT(*) FROM oorder LEFT JOIN
            (SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*) AS found FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l
                ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
            WHERE found IS NULL OR found <> o_ol_cnt",
    },
    Condition {
        number: 7,
        text: "OL_DELIVERY_D is null where O_CARRIER_ID is, and only there",
        violations: "SELECT COUNT(*) FROM order_line LEFT JOIN oorder
            ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id
            WHERE o_id IS NULL OR (ol_delivery_d IS NULL AND o_carrier_id IS NOT NULL)
                OR (ol_delivery_d IS NOT NULL AND o_carrier_id IS NULL)",
    },
    Condition {
        number: 8,
        text: "W_YTD = sum(H_AMOUNT)",
        violations: "SELECT COUNT(*) FROM warehouse LEFT JOIN
            (SELECT h_w_id, SUM(h_amount) AS paid FROM history GROUP BY h_w_id) h ON h_w_id = w_id
            WHERE paid IS NULL OR paid <> w_ytd",
    },
    Condition {
        number: 9,
        text: "D_YTD = sum(H_AMOUNT)",
        violations: "SELECT COUNT(*) FROM district LEFT JOIN
            (SELECT h_w_id, h_d_id, SUM(h_amount) AS paid FROM history GROUP BY h_w_id, h_d_id) h
                ON h_w_id = d_w_id AND h_d_id = d_id
            WHERE paid IS NULL OR paid <> d_ytd",
    },
    Condition {
        number: 10,
        text: "C_BALANCE = sum(OL_AMOUNT) of delivered orders - sum(H_AMOUNT)",
        violations: "SELECT COUNT(*) FROM customer
            LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS billed FROM oorder
                JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
                WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) o
                ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
            LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS paid FROM history
                GROUP BY h_c_w_id, h_c_d_id, h_c_id) h
                ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id
            WHERE c_balance <> COALESCE(billed, 0) - COALESCE(paid, 0)",
    },
    Condition {
        number: 12,
        text: "C_BALANCE + C_YTD_PAYMENT = sum(OL_AMOUNT) of delivered orders",
        violations: "SELECT COUNT(*) FROM customer
            LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS billed FROM oorder
                JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
                WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) o
                ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
            WHERE c_balance + c_ytd_payment <> COALESCE(billed, 0)",
    },
];

/// Checks pages, trees and that indexes agree with their tables; an error says what does not.
const STRUCTURES: &str = "DBCC CHECKDB WITH NO_INFOMSGS";

/// Checks all conditions, and Pikepole's structures.
///
/// # Errors
/// A query that failed; structures that are damaged.
pub fn check(session: &mut dyn Session, dialect: Dialect) -> Result<Vec<Verdict>, SessionError> {
    let mut verdicts = Vec::new();
    for Condition { number, text, violations } in CONDITIONS {
        let violations = session.run(violations)?.integer(0, 0)?;
        verdicts.push(Verdict { number: *number, text, violations });
    }
    if dialect == Dialect::Tsql {
        session.run(STRUCTURES)?;
    }
    Ok(verdicts)
}
