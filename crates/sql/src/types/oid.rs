//! PostgreSQL's object identifiers: of types, relations, functions.

use std::fmt;

/// Names an object of the catalog, above all a type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Oid(pub u32);

#[allow(missing_docs)]
impl Oid {
    /// No object: a type that is not known yet.
    pub const NONE: Oid = Oid(0);
    pub const BOOL: Oid = Oid(16);
    pub const BYTEA: Oid = Oid(17);
    pub const CHAR: Oid = Oid(18);
    pub const NAME: Oid = Oid(19);
    pub const INT8: Oid = Oid(20);
    pub const INT2: Oid = Oid(21);
    pub const INT2VECTOR: Oid = Oid(22);
    pub const INT4: Oid = Oid(23);
    pub const REGPROC: Oid = Oid(24);
    pub const TEXT: Oid = Oid(25);
    pub const OID: Oid = Oid(26);
    pub const TID: Oid = Oid(27);
    pub const XID: Oid = Oid(28);
    pub const CID: Oid = Oid(29);
    pub const OIDVECTOR: Oid = Oid(30);
    pub const JSON: Oid = Oid(114);
    pub const XML: Oid = Oid(142);
    pub const POINT: Oid = Oid(600);
    pub const PATH: Oid = Oid(602);
    pub const BOX: Oid = Oid(603);
    pub const POLYGON: Oid = Oid(604);
    pub const LINE: Oid = Oid(628);
    pub const FLOAT4: Oid = Oid(700);
    pub const FLOAT8: Oid = Oid(701);
    pub const UNKNOWN: Oid = Oid(705);
    pub const CIRCLE: Oid = Oid(718);
    pub const MONEY: Oid = Oid(790);
    pub const MACADDR: Oid = Oid(829);
    pub const INET: Oid = Oid(869);
    pub const CIDR: Oid = Oid(650);
    pub const MACADDR8: Oid = Oid(774);
    pub const BPCHAR: Oid = Oid(1042);
    pub const VARCHAR: Oid = Oid(1043);
    pub const DATE: Oid = Oid(1082);
    pub const TIME: Oid = Oid(1083);
    pub const TIMESTAMP: Oid = Oid(1114);
    pub const TIMESTAMPTZ: Oid = Oid(1184);
    pub const INTERVAL: Oid = Oid(1186);
    pub const TIMETZ: Oid = Oid(1266);
    pub const BIT: Oid = Oid(1560);
    pub const VARBIT: Oid = Oid(1562);
    pub const NUMERIC: Oid = Oid(1700);
    pub const REFCURSOR: Oid = Oid(1790);
    pub const REGPROCEDURE: Oid = Oid(2202);
    pub const REGOPER: Oid = Oid(2203);
    pub const REGOPERATOR: Oid = Oid(2204);
    pub const REGCLASS: Oid = Oid(2205);
    pub const REGTYPE: Oid = Oid(2206);
    pub const RECORD: Oid = Oid(2249);
    pub const CSTRING: Oid = Oid(2275);
    pub const ANY: Oid = Oid(2276);
    pub const ANYARRAY: Oid = Oid(2277);
    pub const VOID: Oid = Oid(2278);
    pub const TRIGGER: Oid = Oid(2279);
    pub const INTERNAL: Oid = Oid(2281);
    pub const ANYELEMENT: Oid = Oid(2283);
    pub const ANYNONARRAY: Oid = Oid(2776);
    pub const UUID: Oid = Oid(2950);
    pub const ANYENUM: Oid = Oid(3500);
    pub const TSVECTOR: Oid = Oid(3614);
    pub const TSQUERY: Oid = Oid(3615);
    pub const REGCONFIG: Oid = Oid(3734);
    pub const REGDICTIONARY: Oid = Oid(3769);
    pub const JSONB: Oid = Oid(3802);
    pub const JSONPATH: Oid = Oid(4072);
    pub const ANYRANGE: Oid = Oid(3831);
    pub const REGNAMESPACE: Oid = Oid(4089);
    pub const REGROLE: Oid = Oid(4096);
    pub const REGCOLLATION: Oid = Oid(4191);
    pub const ANYCOMPATIBLE: Oid = Oid(5077);
    pub const ANYCOMPATIBLEARRAY: Oid = Oid(5078);
    pub const ANYCOMPATIBLENONARRAY: Oid = Oid(5079);
    pub const ANYCOMPATIBLERANGE: Oid = Oid(5080);
    pub const ANYMULTIRANGE: Oid = Oid(4537);
    pub const ANYCOMPATIBLEMULTIRANGE: Oid = Oid(4538);
    pub const BOOL_ARRAY: Oid = Oid(1000);
    pub const INT4_ARRAY: Oid = Oid(1007);
    pub const INT8_ARRAY: Oid = Oid(1016);
    pub const INT2_ARRAY: Oid = Oid(1005);
    pub const TEXT_ARRAY: Oid = Oid(1009);
    pub const VARCHAR_ARRAY: Oid = Oid(1015);
    pub const BPCHAR_ARRAY: Oid = Oid(1014);
    pub const NAME_ARRAY: Oid = Oid(1003);
    pub const OID_ARRAY: Oid = Oid(1028);
    pub const FLOAT4_ARRAY: Oid = Oid(1021);
    pub const FLOAT8_ARRAY: Oid = Oid(1022);
    pub const NUMERIC_ARRAY: Oid = Oid(1231);
    pub const DATE_ARRAY: Oid = Oid(1182);
    pub const TIMESTAMP_ARRAY: Oid = Oid(1115);
    pub const TIMESTAMPTZ_ARRAY: Oid = Oid(1185);
    pub const UUID_ARRAY: Oid = Oid(2951);
    pub const JSONB_ARRAY: Oid = Oid(3807);
    pub const JSON_ARRAY: Oid = Oid(199);
    pub const BYTEA_ARRAY: Oid = Oid(1001);
    pub const CHAR_ARRAY: Oid = Oid(1002);
    pub const RECORD_ARRAY: Oid = Oid(2287);
    pub const REGTYPE_ARRAY: Oid = Oid(2211);
    pub const TIME_ARRAY: Oid = Oid(1183);
    pub const INTERVAL_ARRAY: Oid = Oid(1187);
    pub const CSTRING_ARRAY: Oid = Oid(1263);
    pub const PG_LSN: Oid = Oid(3220);
    pub const INT4RANGE: Oid = Oid(3904);
    pub const INT8RANGE: Oid = Oid(3926);
    pub const NUMRANGE: Oid = Oid(3906);
    pub const TSRANGE: Oid = Oid(3908);
    pub const TSTZRANGE: Oid = Oid(3910);
    pub const DATERANGE: Oid = Oid(3912);

    /// The first one of objects that users make.
    pub const FIRST_USER: Oid = Oid(16384);
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
