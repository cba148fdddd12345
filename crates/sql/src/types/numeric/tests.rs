//! Expected results are those of a PostgreSQL 15.

use super::{Numeric, Typmod};
use proptest::prelude::*;

fn n(text: &str) -> Numeric {
    Numeric::parse(text).unwrap()
}

#[test]
fn quotients_have_the_scale_of_postgresql() {
    for (a, b, expected) in [
        ("1", "3", "0.33333333333333333333"),
        ("10", "4", "2.5000000000000000"),
        ("1.50", "0.7", "2.1428571428571429"),
        ("100000", "7", "14285.714285714286"),
    ] {
        assert_eq!(n(a).div(&n(b)).unwrap().to_string(), expected, "{a} / {b}");
    }
}

#[test]
fn roots_and_logarithms() {
    assert_eq!(n("2.0").sqrt().unwrap().to_string(), "1.414213562373095");
    assert_eq!(n("0.00001").sqrt().unwrap().to_string(), "0.0031622776601683793");
    assert_eq!(n("0.000000012345").sqrt().unwrap().to_string(), "0.0001111080555135405");
    assert_eq!(n("1.0").exp().unwrap().to_string(), "2.7182818284590452");
    assert_eq!(n("2.0").ln().unwrap().to_string(), "0.6931471805599453");
    assert_eq!(n("1.00001").ln().unwrap().to_string(), "0.000009999950000333331");
    assert_eq!(Numeric::log(&n("2"), &n("10")).unwrap().to_string(), "3.3219280948873623");
    assert_eq!(n("2.5").power(&n("0.5")).unwrap().to_string(), "1.5811388300841897");
    assert_eq!(n("2").power(&n("3")).unwrap().to_string(), "8.0000000000000000");
}

#[test]
fn precision_and_scale_are_checked() {
    let typmod = Typmod::from_modifiers(&[4, 2]).unwrap();
    assert_eq!(n("12.345").with_typmod(typmod).unwrap().to_string(), "12.35");
    let error = n("99.996").with_typmod(typmod).unwrap_err();
    assert_eq!(error.message(), "numeric field overflow");
    let detail = "A field with precision 4, scale 2 must round to an absolute value \
                  less than 10^2.";
    assert_eq!(error.fields().detail.as_deref(), Some(detail));
    assert_eq!(Typmod::decode(typmod.encode()), Some(typmod));
}

#[test]
fn exponents_without_end_are_refused() {
    assert_eq!(Numeric::parse("1e1000000000").unwrap_err().code(), "22003");
    assert_eq!(Numeric::parse("1e-20000").unwrap_err().code(), "22003");
    assert_eq!(Numeric::parse("1e99999999999999999999").unwrap_err().code(), "22003");
    assert_eq!(n("0e100000").to_string(), "0");
}

proptest! {
    #[test]
    fn text_and_bytes_come_back(digits in "-?[0-9]{1,60}(\\.[0-9]{1,40})?") {
        let number = n(&digits);
        prop_assert_eq!(n(&number.to_string()).to_string(), number.to_string());
        let bytes = number.to_bytes();
        prop_assert_eq!(Numeric::from_bytes(&bytes).unwrap().to_string(), number.to_string());
    }

    #[test]
    fn any_bytes_are_a_number_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        let _ = Numeric::from_bytes(&bytes);
    }

    #[test]
    fn division_undoes_multiplication(a in -1_000_000i64..1_000_000, b in 1i64..1_000_000) {
        let product = Numeric::from_i64(a).mul(&Numeric::from_i64(b)).unwrap();
        prop_assert_eq!(product.div(&Numeric::from_i64(b)).unwrap(), Numeric::from_i64(a));
    }
}
