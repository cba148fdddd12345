//! The initial content: two delivered orders and an open one in each district, balances that agree
//! with them.

use super::{
    CUSTOMER, CUSTOMERS, DISTRICT, DISTRICTS, HISTORY, I, ITEM, LAST_NAME, LOADED_ORDERS,
    NEW_ORDER, ORDER, ORDER_LINE, STOCK, W, WAREHOUSE, customer_key, district_key, line_key,
    order_key, stock_key,
};
use crate::value::Value;
use crate::workload::Random;

type Rows = Vec<(String, Value)>;

/// What each customer has paid.
const PAID: i64 = 1_000;
const ADDRESS: [(&str, &str); 5] = [
    ("name", "name"),
    ("street_1", "street"),
    ("city", "city"),
    ("state", "OH"),
    ("zip", "431111111"),
];

/// All rows; always the same ones.
pub(crate) fn rows() -> Rows {
    let mut random = Random::of_seed(0);
    let mut rows = place(WAREHOUSE, W, &[("w_tax", 10), ("w_ytd", PAID * CUSTOMERS * DISTRICTS)]);
    rows.extend(ITEM.load(
        I,
        &[("i_name", "item".into()), ("i_price", Value::Int(1_234)), ("i_data", "data".into())],
    ));
    rows.extend(STOCK.load(
        &stock_key(),
        &[
            ("s_quantity", Value::Int(random.between(10, 100))),
            ("s_dist", "dist".into()),
            ("s_ytd", Value::Int(0)),
            ("s_order_cnt", Value::Int(0)),
            ("s_remote_cnt", Value::Int(0)),
            ("s_data", "data".into()),
        ],
    ));
    for district in 1..=DISTRICTS {
        rows.extend(place(
            DISTRICT,
            &district_key(district),
            &[("d_tax", 5), ("d_ytd", PAID * CUSTOMERS), ("d_next_o_id", LOADED_ORDERS + 1)],
        ));
        for customer in 1..=CUSTOMERS {
            rows.extend(customer_rows(&mut random, district, customer));
        }
        rows.extend(orders(&mut random, district));
    }
    rows
}

/// A row with an address.
fn place(table: crate::tables::Table, key: &str, numbers: &[(&str, i64)]) -> Rows {
    let address = ADDRESS.map(|(column, text)| (column, Value::from(text)));
    let numbers = numbers.iter().map(|&(column, number)| (column, Value::Int(number)));
    table.load(key, &address.into_iter().chain(numbers).collect::<Vec<_>>())
}

fn customer_rows(random: &mut Random, district: i64, customer: i64) -> Rows {
    let credit = if random.percent(10) { "BC" } else { "GC" };
    let first = format!("first{}", random.between(1, 1_000_000));
    let key = customer_key(district, customer);
    let mut rows = CUSTOMER.load(
        &key,
        &[
            ("c_id", Value::Int(customer)),
            ("c_first", Value::from(first)),
            ("c_last", LAST_NAME.into()),
            ("c_address", "street, city".into()),
            ("c_credit", credit.into()),
            ("c_discount", Value::Int(random.between(0, 50))),
            ("c_balance", Value::Int(-PAID)),
            ("c_ytd_payment", Value::Int(PAID)),
            ("c_payment_cnt", Value::Int(1)),
            ("c_delivery_cnt", Value::Int(0)),
            ("c_data", "data".into()),
        ],
    );
    rows.extend(HISTORY.load(
        &format!("load-{key}"),
        &[
            ("h_c_id", Value::Int(customer)),
            ("h_c_d_id", Value::Int(district)),
            ("h_d_id", Value::Int(district)),
            ("h_amount", Value::Int(PAID)),
        ],
    ));
    rows
}

fn orders(random: &mut Random, district: i64) -> Rows {
    let shift = random.between(0, CUSTOMERS - 1);
    let mut rows = Rows::new();
    for order in 1..=LOADED_ORDERS {
        let is_open = order == LOADED_ORDERS;
        let lines = random.between(5, 15);
        let customer = (order + shift) % CUSTOMERS + 1;
        let mut cells = vec![("o_c_id", Value::Int(customer)), ("o_ol_cnt", Value::Int(lines))];
        if is_open {
            rows.extend(NEW_ORDER.load(&order_key(district, order), &[]));
        } else {
            cells.push(("o_carrier_id", Value::Int(random.between(1, 10))));
        }
        rows.extend(ORDER.load(&order_key(district, order), &cells));
        for line in 1..=lines {
            let amount = if is_open { random.between(1, 999_999) } else { 0 };
            let mut cells = vec![("ol_i_id", Value::Int(1)), ("ol_amount", Value::Int(amount))];
            if !is_open {
                cells.push(("ol_delivery_d", "1970-01-01".into()));
            }
            rows.extend(ORDER_LINE.load(&line_key(district, order, line), &cells));
        }
    }
    rows
}
