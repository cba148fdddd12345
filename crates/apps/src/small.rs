//! The small applications by name.

use crate::app::App;
use crate::{cart, courseware, stack, twitter};

/// The small applications: each of their assertions breaks at causal consistency.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SmallApp {
    /// A stack of which no element is popped twice.
    Stack,
    /// A course that never has more students than places.
    Overflow,
    /// A course that has no students any more when it is removed.
    RemovedCourse,
    /// A cart to which no deleted item comes back.
    Cart,
    /// A feed that lacks nothing that was seen.
    Twitter,
}

impl SmallApp {
    /// All of them.
    pub const ALL: [SmallApp; 5] = [
        SmallApp::Stack,
        SmallApp::Overflow,
        SmallApp::RemovedCourse,
        SmallApp::Cart,
        SmallApp::Twitter,
    ];

    /// The application.
    pub const fn app(self) -> &'static dyn App {
        match self {
            SmallApp::Stack => &stack::Stack,
            SmallApp::Overflow => &courseware::Overflow,
            SmallApp::RemovedCourse => &courseware::RemovedCourse,
            SmallApp::Cart => &cart::Cart,
            SmallApp::Twitter => &twitter::Twitter,
        }
    }
}

/// The applications of [`SmallApp::ALL`].
pub const APPS: [&dyn App; 5] = [
    SmallApp::Stack.app(),
    SmallApp::Overflow.app(),
    SmallApp::RemovedCourse.app(),
    SmallApp::Cart.app(),
    SmallApp::Twitter.app(),
];
