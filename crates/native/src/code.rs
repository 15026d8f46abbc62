//! Finished code: its memory, its entry and its end.

use crate::NativeError;
use crate::frame::{Exit, Frame};
use cranelift_codegen::Context;
use cranelift_codegen::ir::Function;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Module, ModuleError};
use std::sync::OnceLock;

type Entry = unsafe extern "C" fn(frame: *mut Frame, entry: u32) -> u64;

/// The machine code of a program. Its memory is freed when it is dropped.
///
/// The memory comes from cranelift-jit's `SystemMemoryProvider`: a mapping of its own for each code, readable and writable while the
/// code is copied into it, then readable and executable. It is never writable and executable at once, and no other code shares it.
pub struct Code {
    entry: Entry,
    len_bytes: usize,
    text: Option<String>,
    _module: FreedModule,
}

// SAFETY: the module is touched in `Code::new` and in `drop` alone, which have the code to themselves; it is `Send`. The entry points
// at memory that nothing writes any more, and that any thread may run.
unsafe impl Send for Code {}
// SAFETY: as above. What `&Code` gives is the entry and plain values; the module's cells cannot be reached through it.
unsafe impl Sync for Code {}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Code").field("len_bytes", &self.len_bytes).finish_non_exhaustive()
    }
}

impl Code {
    pub(crate) fn new(func: Function, keeps_text: bool) -> Result<Code, NativeError> {
        let builder = JITBuilder::with_isa(host()?, Box::new(|call| call.to_string()));
        let mut module = FreedModule(Some(JITModule::new(builder)));
        let Some(jit) = module.0.as_mut() else { return Err(NativeError::Generator("no module".to_owned())) };
        let id = jit.declare_anonymous_function(&func.signature).map_err(generator)?;
        let mut context = Context::for_function(func);
        context.set_disasm(keeps_text);
        jit.define_function(id, &mut context).map_err(generator)?;
        let compiled = context.compiled_code();
        // Generated code calls by address alone. A name would be looked for among the process's symbols.
        if compiled.is_none_or(|compiled| !compiled.buffer.relocs().is_empty()) {
            return Err(NativeError::Generator("the code names something outside of it".to_owned()));
        }
        let len_bytes = compiled.map_or(0, |compiled| compiled.code_buffer().len());
        let text = compiled.and_then(|compiled| compiled.vcode.clone());
        jit.finalize_definitions().map_err(generator)?;
        let address = jit.get_finalized_function(id);
        // SAFETY: the address is that of the function just made, whose signature is `Entry`'s: `Builder::new` declares it with the C
        // calling convention of this machine, a pointer and 32 bits going in, 64 bits coming out.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(address) };
        Ok(Code { entry, len_bytes, text, _module: module })
    }

    /// Runs the code from an instruction on until it leaves. An entry after the last instruction is the end.
    ///
    /// # Safety
    /// * `frame.slots` points at as many slots as the program names, of the shape that the builder was given, which this call may
    ///   write. A slot that the program stores into holds NULL or an integer: what it held is overwritten, not dropped.
    /// * `frame.row_count` and `frame.last_error` may be written, if the program sets them.
    /// * `frame.row` and `frame.keys` have room for all that the program writes there, and for [`crate::SLACK_BYTES`] more.
    /// * The helpers that the program calls are sound with this frame and their arguments.
    /// * After a helper changed `frame.slots`, the above holds for the new slots.
    pub unsafe fn run(&self, frame: &mut Frame, entry: u32) -> Exit {
        // SAFETY: the code is mapped as long as `self` is. It reads and writes nothing but the frame and what the caller promises.
        Exit::unpacked(unsafe { (self.entry)(frame, entry) })
    }

    /// The size of the code.
    pub fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    /// The machine code as text, if the builder was asked to keep it.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// The address of the code, for tests of its mapping.
    #[cfg(test)]
    pub(crate) fn address(&self) -> usize {
        self.entry as usize
    }
}

/// A module whose memory is freed with it: by itself, a `JITModule` leaks its memory.
struct FreedModule(Option<JITModule>);

impl Drop for FreedModule {
    fn drop(&mut self) {
        if let Some(module) = self.0.take() {
            // SAFETY: the one pointer into the memory is `Code::entry`. It is private and called in `Code::run` alone, which borrows
            // the code. Here the code is being dropped or was never made, so no call is under way and none can follow.
            unsafe { module.free_memory() };
        }
    }
}

fn generator(error: ModuleError) -> NativeError {
    NativeError::Generator(match error {
        // The error's own text leaves out the source.
        ModuleError::Compilation(error) => format!("{error:?}"),
        error => error.to_string(),
    })
}

/// The code generator for this machine, made at the first use.
pub(crate) fn host() -> Result<OwnedTargetIsa, NativeError> {
    static HOST: OnceLock<Result<OwnedTargetIsa, String>> = OnceLock::new();
    HOST.get_or_init(|| make_host().map_err(|error| error.to_string())).clone().map_err(NativeError::Machine)
}

fn make_host() -> Result<OwnedTargetIsa, Box<dyn std::error::Error>> {
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", "speed"),
        // Code is where it was made, and cranelift-jit wants it so.
        ("is_pic", "false"),
        // An operand from another builder becomes an error here, not a miscompilation.
        ("enable_verifier", "true"),
        // A frame of many spilled values must not step over the stack's guard page.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
        // Profilers walk through the code by frame pointers; nothing unwinds through it.
        ("preserve_frame_pointers", "true"),
        ("unwind_info", "false"),
    ] {
        flags.set(name, value)?;
    }
    Ok(cranelift_native::builder()?.finish(settings::Flags::new(flags))?)
}
