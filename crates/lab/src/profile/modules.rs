//! The program and the libraries in this process's memory: what unwinds their stacks, and what names their addresses.
//!
//! Stacks are unwound by the tables that exceptions and panics use (`.eh_frame`), which every library has, so nobody has to
//! keep a frame pointer. Names come from the line tables, which know of functions that were put into their callers, then
//! from the symbols.

use super::names::module_of_file;
use addr2line::gimli::{BaseAddresses, EhFrame, LittleEndian, Reader, UnwindSection};
use addr2line::{FunctionName, Loader, Location};
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{ExplicitModuleSectionInfo, FrameAddress, Unwinder as _};
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol};
use pikepole_machine::sampler::{STACK_BYTES, Sample};
use std::collections::BTreeMap;
use std::io::{self, Read, Seek};
use std::ops::Range;

/// Frames of a stack that are kept, from the innermost one.
const FRAMES_MAX: usize = 192;

/// One mapped file, or the kernel's own piece of code (`[vdso]`).
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mapped {
    path: String,
    range: Range<u64>,
    /// The address of the file's first byte.
    file_start: u64,
}

/// The files of `/proc/self/maps` that have code, each with the addresses from its first to its last.
fn mapped(maps: &str) -> Vec<Mapped> {
    let mut found: Vec<(Mapped, bool)> = Vec::new();
    for line in maps.lines() {
        let Some((range, is_code, offset, path)) = fields(line) else { continue };
        match found.last_mut() {
            Some((last, has_code)) if last.path == path => {
                last.range.end = range.end;
                *has_code |= is_code;
            }
            _ => {
                let file_start = range.start.wrapping_sub(offset);
                found.push((Mapped { path: path.to_owned(), range, file_start }, is_code));
            }
        }
    }
    found.into_iter().filter(|(_, has_code)| *has_code).map(|(mapped, _)| mapped).collect()
}

/// An exported function: its start, its length, its name.
type Export = (u64, (u64, String));

/// Functions of the C library that choose a variant for the processor: the variants are in no table of a stripped library.
fn chosen() -> [(u64, &'static str); 4] {
    [
        (libc::memcpy as *const () as u64, "memcpy"),
        (libc::memmove as *const () as u64, "memmove"),
        (libc::memset as *const () as u64, "memset"),
        (libc::memcmp as *const () as u64, "memcmp"),
    ]
}

/// The addresses that are in a module, with the lengths that its tables of frames have for them.
fn named(range: &Range<u64>, base: u64, frames_at: u64, frames: &[u8]) -> Vec<Export> {
    let frames = EhFrame::new(frames, LittleEndian);
    let bases = BaseAddresses::default().set_eh_frame(frames_at);
    let export = |(address, name): (u64, &str)| {
        let place = address.wrapping_sub(base);
        let found = frames.fde_for_address(&bases, place, EhFrame::cie_from_offset).ok()?;
        Some((found.initial_address(), (found.len(), name.to_owned())))
    };
    chosen().into_iter().filter(|(address, _)| range.contains(address)).filter_map(export).collect()
}

/// Addresses, whether they are code, the offset in the file, and the file.
fn fields(line: &str) -> Option<(Range<u64>, bool, u64, &str)> {
    let mut words = line.splitn(6, ' ');
    let (from, to) = words.next()?.split_once('-')?;
    let (from, to) = (u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?);
    let is_code = words.next()?.contains('x');
    let offset = u64::from_str_radix(words.next()?, 16).ok()?;
    let path = words.nth(2)?.trim_start();
    (path.starts_with('/') || path == "[vdso]").then_some((from..to, is_code, offset, path))
}

/// A module that names its addresses.
struct Module {
    range: Range<u64>,
    /// What the file calls address 0.
    base: u64,
    /// The file's name, for what has no other.
    name: String,
    loader: Option<Loader>,
    /// What the file exports, by address: the start, the length, the name.
    exports: BTreeMap<u64, (u64, String)>,
}

/// One function at an address: itself, or one that was put into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Function {
    /// Its path as the compiler knows it.
    pub name: String,
    /// It has no code of its own here: it was put into the next one.
    pub inlined: bool,
}

/// Everything that is loaded.
pub(super) struct Modules {
    modules: Vec<Module>,
    unwinder: UnwinderX86_64<Vec<u8>>,
    cache: CacheX86_64,
}

impl Modules {
    /// Reads what is loaded now.
    pub fn loaded() -> io::Result<Self> {
        let mut all = Self { modules: Vec::new(), unwinder: UnwinderX86_64::new(), cache: CacheX86_64::new() };
        let own = std::fs::read_link("/proc/self/exe").ok();
        for mapped in mapped(&std::fs::read_to_string("/proc/self/maps")?) {
            // The program is there even when its file has been replaced since.
            let is_own = own.as_ref().is_some_and(|own| own.to_str() == Some(&mapped.path));
            let path = if is_own { "/proc/self/exe" } else { mapped.path.as_str() };
            let content = match path {
                "[vdso]" => memory(&mapped.range),
                path => std::fs::read(path),
            };
            // A file that is gone, or is none of these formats, has no names; its frames end a stack.
            if let Ok(content) = content {
                all.add(&mapped, path, &content);
            }
        }
        Ok(all)
    }

    fn add(&mut self, mapped: &Mapped, path: &str, content: &[u8]) {
        let Ok(file) = object::File::parse(content) else { return };
        let first = file.segments().find(|segment| segment.file_range().0 == 0);
        let base = mapped.file_start.wrapping_sub(first.map_or(0, |segment| segment.address()));
        let section = |name: &str| {
            let section = file.section_by_name(name)?;
            Some((section.address()..section.address() + section.size(), section.data().ok()?.to_vec()))
        };
        let (text, frames, index) = (section(".text"), section(".eh_frame"), section(".eh_frame_hdr"));
        let named =
            frames.as_ref().map_or_else(Vec::new, |(range, data)| named(&mapped.range, base, range.start, data));
        let range = |section: &Option<(Range<u64>, Vec<u8>)>| section.as_ref().map(|(range, _)| range.clone());
        let info = ExplicitModuleSectionInfo {
            base_svma: 0,
            text_svma: range(&text),
            text: text.map(|(_, data)| data),
            got_svma: file.section_by_name(".got").map(|got| got.address()..got.address() + got.size()),
            eh_frame_svma: range(&frames),
            eh_frame: frames.map(|(_, data)| data),
            eh_frame_hdr_svma: range(&index),
            eh_frame_hdr: index.map(|(_, data)| data),
            ..ExplicitModuleSectionInfo::default()
        };
        self.unwinder.add_module(framehop::Module::new(path.to_owned(), mapped.range.clone(), base, info));
        let exports = file.dynamic_symbols().filter(|symbol| symbol.is_definition() && symbol.size() > 0);
        let exports =
            exports.filter_map(|symbol| Some((symbol.address(), (symbol.size(), symbol.name().ok()?.to_owned()))));
        self.modules.push(Module {
            range: mapped.range.clone(),
            base,
            name: mapped.path.rsplit('/').next().unwrap_or(&mapped.path).to_owned(),
            loader: path.starts_with('/').then(|| Loader::new(path).ok()).flatten(),
            exports: exports.chain(named).collect(),
        });
    }

    /// The addresses of a sample's stack, the innermost first: within the instruction that runs, or that called. Whether the
    /// stack goes on beyond what was copied of it.
    pub fn unwind(&mut self, sample: &Sample<'_>, addresses: &mut Vec<u64>) -> bool {
        let registers = sample.registers;
        let mut is_cut = false;
        let mut read = |address: u64| {
            let at = usize::try_from(address.wrapping_sub(registers.stack)).map_err(|_| ())?;
            is_cut = at >= sample.stack.len() && at < sample.stack.len() + STACK_BYTES;
            let bytes = sample.stack.get(at..at.checked_add(8).ok_or(())?).ok_or(())?;
            Ok(u64::from_ne_bytes(bytes.try_into().map_err(|_| ())?))
        };
        let start = UnwindRegsX86_64::new(registers.instruction, registers.stack, registers.frame);
        let mut frames = self.unwinder.iter_frames(registers.instruction, start, &mut self.cache, &mut read);
        // A stack whose end is not reached is a stack nevertheless.
        while let Ok(Some(frame)) = frames.next() {
            addresses.push(match frame {
                FrameAddress::InstructionPointer(address) => address,
                FrameAddress::ReturnAddress(address) => address.get() - 1,
            });
            if addresses.len() == FRAMES_MAX {
                break;
            }
        }
        // A thread's own stack may end before a slot's room does.
        is_cut && sample.stack.len() == STACK_BYTES
    }

    /// The functions at an address, the innermost first; never none.
    pub fn functions(&self, address: u64) -> Vec<Function> {
        let unknown = |name: &str| vec![Function { name: format!("[{name}]"), inlined: false }];
        let Some(module) = self.modules.iter().find(|module| module.range.contains(&address)) else {
            return unknown("unknown");
        };
        let place = address.wrapping_sub(module.base);
        let mut found = Vec::new();
        if let Some(loader) = &module.loader {
            if let Ok(mut frames) = loader.find_frames(place) {
                while let Ok(Some(frame)) = frames.next() {
                    let name =
                        frame.function.as_ref().and_then(|function| full_name(function, frame.location.as_ref()));
                    found.extend(name.map(|name| Function { name, inlined: true }));
                }
            }
            // What has code of its own has a symbol, and only that has its whole path in tables of lines alone.
            if let Some(symbol) = loader.find_symbol(place) {
                found.pop();
                let name = addr2line::demangle_auto(symbol.into(), None).into_owned();
                found.push(Function { name, inlined: true });
            }
        }
        if found.is_empty() {
            let export = module.exports.range(..=place).next_back();
            let export = export.filter(|(start, (size, _))| place - **start < *size);
            found.extend(export.map(|(_, (_, name))| Function { name: name.clone(), inlined: true }));
        }
        match found.last_mut() {
            Some(last) => last.inlined = false,
            None => return unknown(&module.name),
        }
        found
    }
}

/// The path of a function. Tables of lines alone (`debug = "line-tables-only"`, as in release builds) have a function's last
/// name and the file of its lines: that file's module stands before it.
fn full_name<R: Reader>(function: &FunctionName<R>, location: Option<&Location<'_>>) -> Option<String> {
    let raw = function.raw_name().ok()?;
    let demangled = function.demangle().ok()?;
    let module = location.and_then(|location| location.file).and_then(module_of_file);
    match module {
        Some(module) if raw == demangled => Some(format!("{module}::{demangled}")),
        _ => Some(demangled.into_owned()),
    }
}

/// Bytes of this process's memory that are in no file.
fn memory(range: &Range<u64>) -> io::Result<Vec<u8>> {
    let mut file = std::fs::File::open("/proc/self/mem")?;
    file.seek(io::SeekFrom::Start(range.start))?;
    let mut bytes = vec![0; usize::try_from(range.end - range.start).map_err(io::Error::other)?];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_code_are_found_from_their_first_to_their_last_address() {
        let maps = "55d0-55d4 r--p 00000000 fe:00 17 /usr/bin/a b\n55d4-55e0 r-xp 00004000 fe:00 17 /usr/bin/a b\n\
                    6000-7000 rw-p 00000000 00:00 0 [heap]\n7f00-7f10 r--p 00000000 fe:00 18 /lib/locale\n\
                    7f20-7f22 rw-p 00000000 00:00 0 \n7ffc-7ffd r-xp 00000000 00:00 0 [vdso]\nnonsense\n";
        let of = |path: &str, range, file_start| Mapped { path: path.to_owned(), range, file_start };
        assert_eq!(mapped(maps), [of("/usr/bin/a b", 0x55d0..0x55e0, 0x55d0), of("[vdso]", 0x7ffc..0x7ffd, 0x7ffc)]);
    }

    /// The address of the instruction behind this one: within `here`, into which this function is put.
    #[inline(always)]
    fn put_in() -> usize {
        let address: usize;
        // SAFETY: reads the instruction pointer; touches neither memory nor the stack.
        unsafe { std::arch::asm!("lea {}, [rip]", out(reg) address, options(nomem, nostack, preserves_flags)) };
        std::hint::black_box(address)
    }

    #[inline(never)]
    fn here() -> usize {
        put_in()
    }

    #[test]
    fn an_address_of_this_program_and_one_of_the_c_library_have_names() {
        let modules = Modules::loaded().expect("modules");
        let own = modules.functions(fields as *const () as u64);
        let last = own.last().expect("a function");
        assert!(last.name.contains("profile::modules::fields") && !last.inlined, "{own:?}");
        let address = here() as u64;
        let inlined = modules.functions(address);
        assert!(inlined.last().is_some_and(|last| last.name.contains("tests::here") && !last.inlined), "{inlined:?}");
        // A build without line tables knows nothing of what was put into what.
        let module = modules.modules.iter().find(|module| module.range.contains(&address)).expect("this program");
        let loader = module.loader.as_ref().expect("this program's tables");
        if loader.find_location(address.wrapping_sub(module.base)).is_ok_and(|line| line.is_some()) {
            let put_in = |function: &Function| function.inlined && function.name.ends_with("profile::modules::put_in");
            assert!(inlined.iter().any(put_in), "{inlined:?}");
        }
        let other = modules.functions(libc::getpid as *const () as u64 + 1);
        assert!(other.iter().any(|function| function.name.contains("getpid")), "{other:?}");
        assert_eq!(modules.functions(16)[0].name, "[unknown]");
        // What the processor's variant of a copy is called in a library without symbols.
        for (address, name) in chosen() {
            let found = modules.functions(address + 4);
            assert!(found.iter().any(|function| function.name.contains(&name[..3])), "{name}: {found:?}");
        }
    }
}
