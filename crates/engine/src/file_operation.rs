//! Operations of the file system that a statement waits for: they run on a thread of their own, under PREEMPTIVE_OS_FILEOPS.

use pikepole_contention::WaitType;

/// Makes or removes files beside the scheduler, which runs other tasks meanwhile.
pub(crate) async fn file_operation<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    pikepole_scheduler::wait(WaitType::PREEMPTIVE_OS_FILEOPS, pikepole_scheduler::run_blocking(work)).await
}
