//! The initial rows of TPC-C (4.3.3).

use super::{CUSTOMERS, DISTRICTS, ITEMS, Tpcc};
use crate::load::Loader;
use crate::random::{self, Rng};
use crate::session::SessionError;
use crate::values::{cents, int, now, rate, text, whole};
use pikepole_embedded::Value;
use std::ops::RangeInclusive;

/// The first order that is not delivered.
const FIRST_NEW_ORDER: i32 = 2101;

impl Tpcc {
    /// Loads the rows.
    pub fn load(&self, loader: &mut Loader<'_>, random: &mut Rng) -> Result<(), SessionError> {
        for item in 1..=ITEMS {
            let row = vec![
                int(item),
                any(random, 14..=24),
                cents(random.i64(100..=10_000)),
                text(data(random)),
                int(random.i32(1..=10_000)),
            ];
            loader.row("item", row)?;
        }
        for warehouse in 1..=self.warehouse_count() {
            let mut row = vec![int(warehouse), cents(30_000_000), rate(random.i64(0..=2000)), any(random, 6..=10)];
            row.extend(address(random));
            loader.row("warehouse", row)?;
            for item in 1..=ITEMS {
                let mut row = vec![int(warehouse), int(item), int(random.i32(10..=100)), whole(0), int(0), int(0)];
                row.push(text(data(random)));
                row.extend((0..DISTRICTS).map(|_| any(random, 24..=24)));
                loader.row("stock", row)?;
            }
            for district in 1..=DISTRICTS {
                load_district(loader, random, warehouse, district)?;
            }
        }
        Ok(())
    }
}

fn load_district(loader: &mut Loader<'_>, random: &mut Rng, warehouse: i32, district: i32) -> Result<(), SessionError> {
    let mut row = vec![int(warehouse), int(district), cents(3_000_000), rate(random.i64(0..=2000)), int(CUSTOMERS + 1)];
    row.push(any(random, 6..=10));
    row.extend(address(random));
    loader.row("district", row)?;
    for customer in 1..=CUSTOMERS {
        load_customer(loader, random, warehouse, district, customer)?;
    }
    let mut customers: Vec<i32> = (1..=CUSTOMERS).collect();
    random.shuffle(&mut customers);
    for (order, customer) in (1..).zip(customers) {
        load_order(loader, random, [warehouse, district, order], customer)?;
    }
    Ok(())
}

fn load_customer(
    loader: &mut Loader<'_>,
    random: &mut Rng,
    warehouse: i32,
    district: i32,
    customer: i32,
) -> Result<(), SessionError> {
    let last = if customer <= 1000 { random::last_name(customer - 1) } else { random::loaded_last_name(random) };
    let credit = if random.u8(0..10) == 0 { "BC" } else { "GC" };
    let mut row =
        vec![int(warehouse), int(district), int(customer), rate(random.i64(0..=5000)), text(credit), text(last)];
    row.extend([any(random, 8..=16), cents(5_000_000), cents(-1000), cents(1000), int(1), int(0)]);
    row.extend(address(random));
    row.extend([text(random::digits(random, 16)), now(), text("OE"), any(random, 300..=500)]);
    loader.row("customer", row)?;
    let mut row = vec![int(customer), int(district), int(warehouse), int(district), int(warehouse), now()];
    row.extend([cents(1000), any(random, 12..=24)]);
    loader.row("history", row)
}

fn load_order(
    loader: &mut Loader<'_>,
    random: &mut Rng,
    [warehouse, district, order]: [i32; 3],
    customer: i32,
) -> Result<(), SessionError> {
    let is_new = order >= FIRST_NEW_ORDER;
    let key = [int(warehouse), int(district), int(order)];
    let (carrier, lines) = (random.i32(1..=10), random.i32(5..=15));
    let mut row = key.to_vec();
    row.extend([int(customer), if is_new { Value::Null } else { int(carrier) }, int(lines), int(1), now()]);
    loader.row("oorder", row)?;
    for line in 1..=lines {
        let (delivered, amount) = if is_new { (Value::Null, random.i64(1..=999_999)) } else { (now(), 0) };
        let mut row = key.to_vec();
        row.extend([int(line), int(random.i32(1..=ITEMS)), delivered, cents(amount), int(warehouse), int(5)]);
        row.push(any(random, 24..=24));
        loader.row("order_line", row)?;
    }
    if is_new {
        loader.row("new_order", key.to_vec())?;
    }
    Ok(())
}

fn any(random: &mut Rng, length: RangeInclusive<usize>) -> Value {
    text(random::text(random, length))
}

/// Two streets, a city, a state and a ZIP code.
fn address(random: &mut Rng) -> [Value; 5] {
    let state: String = (0..2).map(|_| random.uppercase()).collect();
    let zip = random::digits(random, 4) + "11111";
    [any(random, 10..=20), any(random, 10..=20), any(random, 10..=20), text(state), text(zip)]
}

/// A text with ORIGINAL somewhere in one of ten.
fn data(random: &mut Rng) -> String {
    const MARK: &str = "ORIGINAL";
    let mut data = random::text(random, 26..=50);
    if random.u8(0..10) == 0 {
        let start = random.usize(0..=data.len() - MARK.len());
        data.replace_range(start..start + MARK.len(), MARK);
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_ten_texts_is_marked() {
        let mut random = Rng::with_seed(1);
        let texts: Vec<String> = (0..10_000).map(|_| data(&mut random)).collect();
        assert!(texts.iter().all(|text| (26..=50).contains(&text.len())));
        let marked = texts.iter().filter(|text| text.contains("ORIGINAL")).count();
        assert!((900..1100).contains(&marked), "{marked}");
    }
}
