//! Messages under way, whose buffers a foreign library reads and writes until it says that it has done.

/// Ends the process where work unwinds meanwhile: the buffers would go, and the library would not know.
pub(crate) struct UnderWay;

impl UnderWay {
    /// The library is waited for now.
    pub fn over(self) {
        std::mem::forget(self);
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        std::process::abort();
    }
}
