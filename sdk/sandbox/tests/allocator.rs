//! A program whose allocator looks at the clock.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::unwrap_used, unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime};

use perennial::testing::{World, sandbox};
use perennial_sandbox as _;

/// Keeps when it was last asked.
struct Keeping;

static LAST: AtomicU64 = AtomicU64::new(0);

// SAFETY: it passes everything on.
unsafe impl GlobalAlloc for Keeping {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        LAST.store(since.as_secs(), Ordering::Relaxed);
        // SAFETY: it is what the caller wants.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: it is what the caller wants.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Keeping = Keeping;

#[test]
fn what_an_allocator_asks_is_not_the_workflows() {
    let touched = sandbox().unwrap().watch(World::Real, &mut || {
        let lines: Vec<_> = (0..10).map(|line| format!("line {line}")).collect();
        assert!(lines.len() == 10 && LAST.load(Ordering::Relaxed) > 0);
        let _ = Instant::now();
    });
    let calls: Vec<_> = touched.iter().map(|touched| touched.call).collect();
    assert_eq!(calls, ["clock_gettime(CLOCK_MONOTONIC)"]);
}
