//! The transactions of TPC-C (2.4 to 2.8), a round trip for each statement.

use super::{CUSTOMERS, DISTRICTS, ITEMS};
use crate::random;
use crate::schema::{DATETIME, INT, char, decimal, varchar};
use crate::session::{Answer, SessionError};
use crate::terminal::Terminal;
use crate::values::{cents, int, now, text};
use crate::workloads::Ending;
use pikepole_embedded::SqlType;

/// A sum of money.
const AMOUNT: SqlType = decimal(12, 2);
/// The number of an item that there is not, by which one of a hundred new orders is rolled back.
const NO_ITEM: i32 = -12_345;
/// Bytes of a customer's text.
const DATA_BYTES: usize = 500;

crate::statements! {
    GET_CUSTOMER (INT, INT, INT):
        "SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3";
    GET_WAREHOUSE_TAX (INT): "SELECT w_tax FROM warehouse WHERE w_id = $1";
    LOCK_DISTRICT (INT, INT):
        "SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = $1 AND d_id = $2 FOR UPDATE",
        tsql "SELECT d_next_o_id, d_tax FROM district WITH (UPDLOCK) WHERE d_w_id = $1 AND d_id = $2";
    TAKE_ORDER_NUMBER (INT, INT): "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = $1 AND d_id = $2";
    INSERT_ORDER (INT, INT, INT, INT, DATETIME, INT, INT):
        "INSERT INTO oorder (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
         VALUES ($1, $2, $3, $4, $5, $6, $7)";
    INSERT_NEW_ORDER (INT, INT, INT): "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES ($1, $2, $3)";
    GET_ITEM (INT): "SELECT i_price, i_name, i_data FROM item WHERE i_id = $1";
    LOCK_STOCK (INT, INT):
        "SELECT s_quantity, s_data, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08,
         s_dist_09, s_dist_10 FROM stock WHERE s_i_id = $1 AND s_w_id = $2 FOR UPDATE",
        tsql "SELECT s_quantity, s_data, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08,
         s_dist_09, s_dist_10 FROM stock WITH (UPDLOCK) WHERE s_i_id = $1 AND s_w_id = $2";
    UPDATE_STOCK (INT, INT, INT, INT, INT):
        "UPDATE stock SET s_quantity = $1, s_ytd = s_ytd + $2, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + $3
         WHERE s_i_id = $4 AND s_w_id = $5";
    INSERT_LINE (INT, INT, INT, INT, INT, INT, INT, AMOUNT, char(24)):
        "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,
         ol_dist_info) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    PAY_WAREHOUSE (AMOUNT, INT): "UPDATE warehouse SET w_ytd = w_ytd + $1 WHERE w_id = $2";
    GET_WAREHOUSE (INT):
        "SELECT w_street_1, w_street_2, w_city, w_state, w_zip, w_name FROM warehouse WHERE w_id = $1";
    PAY_DISTRICT (AMOUNT, INT, INT): "UPDATE district SET d_ytd = d_ytd + $1 WHERE d_w_id = $2 AND d_id = $3";
    GET_DISTRICT (INT, INT):
        "SELECT d_street_1, d_street_2, d_city, d_state, d_zip, d_name FROM district WHERE d_w_id = $1 AND d_id = $2";
    CUSTOMER_BY_ID (INT, INT, INT):
        "SELECT c_first, c_middle, c_id, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_credit, c_credit_lim,
         c_discount, c_balance, c_ytd_payment, c_payment_cnt, c_since, c_last FROM customer
         WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3";
    CUSTOMERS_BY_NAME (INT, INT, varchar(16)):
        "SELECT c_first, c_middle, c_id, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_credit, c_credit_lim,
         c_discount, c_balance, c_ytd_payment, c_payment_cnt, c_since FROM customer
         WHERE c_w_id = $1 AND c_d_id = $2 AND c_last = $3 ORDER BY c_first";
    LOCK_CUSTOMER_DATA (INT, INT, INT):
        "SELECT c_data FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3 FOR UPDATE",
        tsql "SELECT c_data FROM customer WITH (UPDLOCK) WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3";
    PAY_WITH_DATA (AMOUNT, AMOUNT, varchar(500), INT, INT, INT):
        "UPDATE customer SET c_balance = c_balance - $1, c_ytd_payment = c_ytd_payment + $2,
         c_payment_cnt = c_payment_cnt + 1, c_data = $3 WHERE c_w_id = $4 AND c_d_id = $5 AND c_id = $6";
    PAY (AMOUNT, AMOUNT, INT, INT, INT):
        "UPDATE customer SET c_balance = c_balance - $1, c_ytd_payment = c_ytd_payment + $2,
         c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = $3 AND c_d_id = $4 AND c_id = $5";
    INSERT_HISTORY (INT, INT, INT, INT, INT, DATETIME, AMOUNT, varchar(24)):
        "INSERT INTO history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    NEWEST_ORDER (INT, INT, INT):
        "SELECT o_id, o_carrier_id, o_entry_d FROM oorder WHERE o_w_id = $1 AND o_d_id = $2 AND o_c_id = $3
         ORDER BY o_id DESC LIMIT 1",
        tsql "SELECT TOP 1 o_id, o_carrier_id, o_entry_d FROM oorder WHERE o_w_id = $1 AND o_d_id = $2 AND o_c_id = $3
         ORDER BY o_id DESC";
    GET_LINES (INT, INT, INT):
        "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
         WHERE ol_o_id = $1 AND ol_d_id = $2 AND ol_w_id = $3";
    LOCK_OLDEST_NEW_ORDER (INT, INT):
        "SELECT no_o_id FROM new_order WHERE no_d_id = $1 AND no_w_id = $2 ORDER BY no_o_id ASC LIMIT 1 FOR UPDATE",
        tsql "SELECT TOP 1 no_o_id FROM new_order WITH (UPDLOCK) WHERE no_d_id = $1 AND no_w_id = $2 ORDER BY no_o_id ASC";
    DELETE_NEW_ORDER (INT, INT, INT): "DELETE FROM new_order WHERE no_o_id = $1 AND no_d_id = $2 AND no_w_id = $3";
    GET_CUSTOMER_OF_ORDER (INT, INT, INT): "SELECT o_c_id FROM oorder WHERE o_id = $1 AND o_d_id = $2 AND o_w_id = $3";
    SET_CARRIER (INT, INT, INT, INT):
        "UPDATE oorder SET o_carrier_id = $1 WHERE o_id = $2 AND o_d_id = $3 AND o_w_id = $4";
    SET_DELIVERED (DATETIME, INT, INT, INT):
        "UPDATE order_line SET ol_delivery_d = $1 WHERE ol_o_id = $2 AND ol_d_id = $3 AND ol_w_id = $4";
    SUM_LINES (INT, INT, INT):
        "SELECT SUM(ol_amount) AS ol_total FROM order_line WHERE ol_o_id = $1 AND ol_d_id = $2 AND ol_w_id = $3";
    BILL (AMOUNT, INT, INT, INT):
        "UPDATE customer SET c_balance = c_balance + $1, c_delivery_cnt = c_delivery_cnt + 1
         WHERE c_w_id = $2 AND c_d_id = $3 AND c_id = $4";
    GET_NEXT_ORDER (INT, INT): "SELECT d_next_o_id FROM district WHERE d_w_id = $1 AND d_id = $2";
    COUNT_LOW_STOCK (INT, INT, INT, INT, INT, INT):
        "SELECT COUNT(DISTINCT (s_i_id)) AS stock_count FROM order_line, stock
         WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id < $3 AND ol_o_id >= $4 AND s_w_id = $5 AND s_i_id = ol_i_id
         AND s_quantity < $6";
}

/// A line of an order.
struct Line {
    item: i32,
    supplier: i32,
    quantity: i32,
}

/// A customer orders 5 to 15 items.
pub async fn new_order(terminal: &mut Terminal, warehouse: i32, warehouses: i32) -> Result<Ending, SessionError> {
    let random = &mut terminal.random;
    let district = random.i32(1..=DISTRICTS);
    let customer = random::customer_id(random, CUSTOMERS);
    let count = random.usize(5..=15);
    let mut lines = Vec::with_capacity(count);
    for _ in 0..count {
        let item = random::item_id(random, ITEMS);
        let is_remote = warehouses > 1 && random.u8(1..=100) == 1;
        let supplier = if is_remote { other_warehouse(random, warehouse, warehouses) } else { warehouse };
        lines.push(Line { item, supplier, quantity: random.i32(1..=10) });
    }
    if let Some(last) = lines.last_mut()
        && random.u8(1..=100) == 1
    {
        last.item = NO_ITEM;
    }
    let is_local = lines.iter().all(|line| line.supplier == warehouse);
    terminal.run(GET_CUSTOMER, &[int(warehouse), int(district), int(customer)]).await?.text(0, 1)?;
    terminal.run(GET_WAREHOUSE_TAX, &[int(warehouse)]).await?.value(0, 0)?;
    let order = terminal.run(LOCK_DISTRICT, &[int(warehouse), int(district)]).await?.integer(0, 0)?;
    changed(&terminal.run(TAKE_ORDER_NUMBER, &[int(warehouse), int(district)]).await?)?;
    let mut values = vec![int(order), int(district), int(warehouse), int(customer), now()];
    values.extend([int(count as i32), int(i32::from(is_local))]);
    changed(&terminal.run(INSERT_ORDER, &values).await?)?;
    changed(&terminal.run(INSERT_NEW_ORDER, &[int(order), int(district), int(warehouse)]).await?)?;
    for (number, line) in (1..).zip(&lines) {
        let item = terminal.run(GET_ITEM, &[int(line.item)]).await?;
        if item.rows.is_empty() {
            return Ok(Ending::Rollback);
        }
        let key = [int(line.item), int(line.supplier)];
        let stock = terminal.run(LOCK_STOCK, &key).await?;
        let left = stock.integer(0, 0)? as i32 - line.quantity;
        let left = if left >= 10 { left } else { left + 91 };
        let mut values =
            vec![int(order), int(district), int(warehouse), int(number), int(line.item), int(line.supplier)];
        let amount = item.cents(0, 0)? * i64::from(line.quantity);
        values.extend([int(line.quantity), cents(amount), text(stock.text(0, 1 + district as usize)?)]);
        changed(&terminal.run(INSERT_LINE, &values).await?)?;
        let mut values = vec![int(left), int(line.quantity), int(i32::from(line.supplier != warehouse))];
        values.extend(key);
        changed(&terminal.run(UPDATE_STOCK, &values).await?)?;
    }
    Ok(Ending::Commit)
}

/// A customer pays at a warehouse, which is another one than his own in 15 of 100 cases.
pub async fn payment(terminal: &mut Terminal, warehouse: i32, warehouses: i32) -> Result<Ending, SessionError> {
    let random = &mut terminal.random;
    let district = random.i32(1..=DISTRICTS);
    let amount = random.i64(100..=500_000);
    let is_remote = random.u8(1..=100) > 85;
    let (home, home_district) = match is_remote {
        true if warehouses > 1 => (other_warehouse(random, warehouse, warehouses), random.i32(1..=DISTRICTS)),
        true => (warehouse, random.i32(1..=DISTRICTS)),
        false => (warehouse, district),
    };
    changed(&terminal.run(PAY_WAREHOUSE, &[cents(amount), int(warehouse)]).await?)?;
    let warehouse_name = terminal.run(GET_WAREHOUSE, &[int(warehouse)]).await?.text(0, 5)?.to_string();
    changed(&terminal.run(PAY_DISTRICT, &[cents(amount), int(warehouse), int(district)]).await?)?;
    let district_name = terminal.run(GET_DISTRICT, &[int(warehouse), int(district)]).await?.text(0, 5)?.to_string();
    let (customers, row) = customer(terminal, home, home_district).await?;
    let customer = customers.integer(row, 2)?;
    let key = [int(home), int(home_district), int(customer)];
    let mut values = vec![cents(amount), cents(amount)];
    let pay = if customers.text(row, 9)? == "BC" {
        let data = terminal.run(LOCK_CUSTOMER_DATA, &key).await?;
        let (paid, data) = (amount as f64 / 100.0, data.text(0, 0)?);
        let mut data = format!("{customer} {home_district} {home} {district} {warehouse} {paid} | {data}");
        data.truncate(DATA_BYTES);
        values.push(text(data));
        PAY_WITH_DATA
    } else {
        PAY
    };
    values.extend(key);
    changed(&terminal.run(pay, &values).await?)?;
    let mut values = vec![int(home_district), int(home), int(customer), int(district), int(warehouse), now()];
    values.extend([cents(amount), text(format!("{warehouse_name}    {district_name}"))]);
    changed(&terminal.run(INSERT_HISTORY, &values).await?)?;
    Ok(Ending::Commit)
}

/// A customer asks for his last order.
pub async fn order_status(terminal: &mut Terminal, warehouse: i32) -> Result<Ending, SessionError> {
    let district = terminal.random.i32(1..=DISTRICTS);
    let (customers, row) = customer(terminal, warehouse, district).await?;
    let customer = customers.integer(row, 2)?;
    let order = terminal.run(NEWEST_ORDER, &[int(warehouse), int(district), int(customer)]).await?.integer(0, 0)?;
    terminal.run(GET_LINES, &[int(order), int(district), int(warehouse)]).await?.integer(0, 0)?;
    Ok(Ending::Commit)
}

/// The oldest order of each district is delivered.
pub async fn delivery(terminal: &mut Terminal, warehouse: i32) -> Result<Ending, SessionError> {
    let carrier = terminal.random.i32(1..=10);
    for district in 1..=DISTRICTS {
        let Some(order) = oldest_new_order(terminal, warehouse, district).await? else { continue };
        let key = [int(order), int(district), int(warehouse)];
        changed(&terminal.run(DELETE_NEW_ORDER, &key).await?)?;
        let customer = terminal.run(GET_CUSTOMER_OF_ORDER, &key).await?.integer(0, 0)?;
        let [order, district, warehouse] = &key;
        let with = |first| [first, order.clone(), district.clone(), warehouse.clone()];
        changed(&terminal.run(SET_CARRIER, &with(int(carrier))).await?)?;
        terminal.run(SET_DELIVERED, &with(now())).await?;
        let total = terminal.run(SUM_LINES, &key).await?.cents(0, 0)?;
        changed(&terminal.run(BILL, &[cents(total), warehouse.clone(), district.clone(), int(customer)]).await?)?;
    }
    Ok(Ending::Commit)
}

/// The oldest order of a district that is to be delivered. PostgreSQL gives none when another delivery has just taken it, after it
/// has waited for that: then it is asked again.
async fn oldest_new_order(terminal: &mut Terminal, warehouse: i32, district: i32) -> Result<Option<i64>, SessionError> {
    for _ in 0..2 {
        let found = terminal.run(LOCK_OLDEST_NEW_ORDER, &[int(district), int(warehouse)]).await?;
        if !found.rows.is_empty() {
            return found.integer(0, 0).map(Some);
        }
    }
    Ok(None)
}

/// Counts the items of a district's last orders that are short.
pub async fn stock_level(terminal: &mut Terminal, warehouse: i32) -> Result<Ending, SessionError> {
    let (threshold, district) = (terminal.random.i32(10..=20), terminal.random.i32(1..=DISTRICTS));
    let next = terminal.run(GET_NEXT_ORDER, &[int(warehouse), int(district)]).await?.integer(0, 0)?;
    let values = [int(warehouse), int(district), int(next), int(next - 20), int(warehouse), int(threshold)];
    terminal.run(COUNT_LOW_STOCK, &values).await?.integer(0, 0)?;
    Ok(Ending::Commit)
}

/// A customer by last name, in 60 of 100 cases, or by number: the answer, and his row in it.
async fn customer(terminal: &mut Terminal, warehouse: i32, district: i32) -> Result<(Answer, usize), SessionError> {
    let is_by_name = terminal.random.u8(1..=100) <= 60;
    let (statement, which) = match is_by_name {
        true => (CUSTOMERS_BY_NAME, text(random::asked_last_name(&mut terminal.random))),
        false => (CUSTOMER_BY_ID, int(random::customer_id(&mut terminal.random, CUSTOMERS))),
    };
    let customers = terminal.run(statement, &[int(warehouse), int(district), which]).await?;
    // The one in the middle, rounded up where they are counted from 1 on (2.5.2.2).
    let row = customers.rows.len().saturating_sub(1) / 2;
    Ok((customers, row))
}

/// Another warehouse than this one; there are at least two.
fn other_warehouse(random: &mut random::Rng, warehouse: i32, warehouses: i32) -> i32 {
    let other = random.i32(1..warehouses);
    if other >= warehouse { other + 1 } else { other }
}

fn changed(answer: &Answer) -> Result<(), SessionError> {
    match answer.affected {
        1 => Ok(()),
        count => Err(SessionError::Other(format!("a change of one row changed {count}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_warehouse_is_any_of_the_others() {
        let (mut random, mut counts) = (random::Rng::with_seed(1), [0; 5]);
        for _ in 0..3000 {
            counts[other_warehouse(&mut random, 2, 4) as usize] += 1;
        }
        assert!(counts[0] == 0 && counts[2] == 0, "{counts:?}");
        assert!([1, 3, 4].iter().all(|warehouse| counts[*warehouse] > 800), "{counts:?}");
    }
}
