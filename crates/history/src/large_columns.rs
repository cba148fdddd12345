//! Memory for large columns, in large pages where the system offers them on request (with the
//! feature `large-files`).
//!
//! A column of ten million operations is first touched page by page; with pages of 4 KiB the page
//! faults cost as much as the parsing. Asking for large pages is only a hint: nothing depends on
//! whether it is granted.

/// An empty column with room for `count` items.
pub fn column<T>(count: usize) -> Vec<T> {
    let column = Vec::with_capacity(count);
    advise(&column);
    column
}

/// A column of `count` times `fill`.
pub fn filled<T: Clone>(fill: T, count: usize) -> Vec<T> {
    let mut column = column(count);
    column.resize(count, fill);
    column
}

/// A column of `count` zeros, whose pages are first touched when they are written.
pub fn zeros<T: Copy + Default>(count: usize) -> Vec<T> {
    let column = vec![T::default(); count];
    advise(&column);
    column
}

#[cfg(all(feature = "large-files", target_os = "linux"))]
fn advise<T>(column: &Vec<T>) {
    const LARGE_PAGE: usize = 2 << 20;
    let start = (column.as_ptr() as usize).next_multiple_of(LARGE_PAGE);
    let end = column.as_ptr() as usize + column.capacity() * size_of::<T>();
    if end.saturating_sub(start) < LARGE_PAGE {
        return;
    }
    // SAFETY: the range lies inside the allocation of `column`, and this advice changes no content,
    // only the size of the pages that back it.
    unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE) };
}

#[cfg(not(all(feature = "large-files", target_os = "linux")))]
fn advise<T>(_: &Vec<T>) {}

/// Asks the allocator to keep what is freed for later columns, instead of giving it back and asking
/// for new pages, which the system has to clear first: with large histories that is a third of the
/// work. For programs that do one thing and end.
#[cfg(all(feature = "large-files", target_os = "linux", target_env = "gnu"))]
pub fn keep_freed() {
    // One heap for all threads, no mappings of their own for large columns, and the heap never
    // shrinks.
    for (option, value) in
        [(libc::M_ARENA_MAX, 1), (libc::M_MMAP_MAX, 0), (libc::M_TRIM_THRESHOLD, i32::MAX)]
    {
        // SAFETY: sets a number inside the allocator; a refusal changes nothing.
        unsafe { libc::mallopt(option, value) };
    }
}

/// Elsewhere the allocator does as it likes.
#[cfg(not(all(feature = "large-files", target_os = "linux", target_env = "gnu")))]
pub fn keep_freed() {}
