use super::*;
use proptest as _;
