//! Large pages: what the kernel says of this process's memory under each `LARGE_PAGES`. One test in a process of its own: it
//! looks at all memory of the process. It changes no setting of the system; where no pages are reserved, that is what it tests.

use pikepole_embedded::{Engine, Options, SystemFiles};
use pikepole_machine::ReservedPages;

const POOL_BYTES: u64 = 64 << 20;

struct Folder(std::path::PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // What stays behind is in the folder for such things.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The process's memory as the kernel tells it, mapping by mapping, in KB.
struct Kernel {
    /// In transparent pages of 2 MB.
    transparent: u64,
    /// Sizes of mappings whose pages have 2 MB.
    reserved: Vec<u64>,
}

impl Kernel {
    fn look() -> Kernel {
        let text = std::fs::read_to_string("/proc/self/smaps").expect("the kernel's account");
        let mut seen = Kernel { transparent: 0, reserved: Vec::new() };
        let mut size = 0;
        for line in text.lines() {
            let Some((name, rest)) = line.split_once(':') else { continue };
            let kb = || rest.trim().trim_end_matches(" kB").parse::<u64>().expect("kilobytes");
            match name {
                "Size" => size = kb(),
                "KernelPageSize" if kb() == 2048 => seen.reserved.push(size),
                "AnonHugePages" | "ShmemPmdMapped" => seen.transparent += kb(),
                _ => {}
            }
        }
        seen
    }
}

/// `RUNNING VALUE|memory model|KB in large pages|page sizes of the clerks`, with a table of some megabytes in the pool.
fn told(engine: &Engine) -> (String, String, i64, Vec<String>) {
    let mut connection = engine.connect_blocking().expect("a session");
    connection.execute("CREATE TABLE t (a char(4000) NOT NULL)", &[]).expect("a table");
    let fill = "INSERT t SELECT TOP (2000) 'x' FROM sys.all_columns a CROSS JOIN sys.all_columns b";
    assert_eq!(connection.execute(fill, &[]).expect("rows").rows_affected, 2000);
    let mut texts = |sql: &str| -> Vec<String> {
        let rows = connection.query(sql, &[]).unwrap_or_else(|error| panic!("{sql}: {error}"));
        rows.iter().map(|row| row.get::<String>(0).expect("text")).collect()
    };
    let value = "SELECT value_in_use FROM sys.dm_pikepole_policies WHERE name = 'LARGE_PAGES'";
    let clerks = "SELECT CONCAT(type, ' ', name, ' ', virtual_memory_reserved_kb, ' ', page_size_in_bytes)
                  FROM sys.dm_os_memory_clerks WHERE name = 'master' ORDER BY type";
    let (value, clerks) = (texts(value).swap_remove(0), texts(clerks));
    let model =
        texts("SELECT CONCAT(sql_memory_model, ' ', sql_memory_model_desc) FROM sys.dm_os_sys_info").swap_remove(0);
    let large = "SELECT large_page_allocations_kb FROM sys.dm_os_process_memory
                 WHERE physical_memory_in_use_kb >= large_page_allocations_kb AND page_fault_count > 0";
    let rows = connection.query(large, &[]).expect("a row");
    let large = rows.iter().next().expect("one row").get::<i64>(0).expect("a number");
    (value, model, large, clerks)
}

#[test]
fn memory_is_in_the_pages_that_the_policy_asks_for() {
    let setting = |name| {
        let text = std::fs::read_to_string(format!("/sys/kernel/mm/transparent_hugepage/{name}")).unwrap_or_default();
        text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or("never", |(word, _)| word).to_owned()
    };
    let folder = Folder(std::env::temp_dir().join(format!("pikepole-large-pages-{}", std::process::id())));
    let open = |options: Options| {
        let _ = std::fs::remove_dir_all(&folder.0);
        Engine::open(options.buffer_pool_bytes(POOL_BYTES)).expect("an engine")
    };
    let options = || Options::new(&folder.0);

    let engine = open(options().policy("LARGE_PAGES", "NONE"));
    let (value, model, _, clerks) = told(&engine);
    assert_eq!((value.as_str(), model.as_str()), ("NONE", "1 CONVENTIONAL"));
    assert_eq!(clerks.len(), 2, "{clerks:?}");
    assert!(clerks[0].starts_with("MEMORYCLERK_SQLBUFFERPOOL master ") && clerks[0].ends_with(" 4096"), "{clerks:?}");
    assert_eq!(clerks[1], "MEMORYCLERK_SQLLOGPOOL master 32768 4096");
    // Where large pages are for all, the allocator's memory may be in them.
    if setting("enabled") != "always" {
        assert_eq!(Kernel::look().transparent, 0, "nothing is in pages that nobody asked for");
    }
    engine.shutdown().expect("closed");

    let engine = open(options());
    let (value, model, large, clerks) = told(&engine);
    assert_eq!((value.as_str(), model.as_str()), ("TRANSPARENT", "1 CONVENTIONAL"));
    assert!(engine.memory().iter().all(|memory| !memory.is_refused()));
    if setting("enabled") == "never" {
        assert!(clerks[0].ends_with(" 4096") && engine.memory()[0].to_string().contains("enabled is never"));
    } else {
        assert!(clerks[0].ends_with(" 2097152"), "{clerks:?}");
        let seen = Kernel::look();
        // As much as the kernel found in one piece: 8 MB of rows are in the pool, and the view tells what the kernel does.
        assert!(seen.transparent == 0 || large > 0, "{large} KB, the kernel says {}", seen.transparent);
        println!("transparent: {large} KB by the view, {} KB by the kernel", seen.transparent);
    }
    engine.shutdown().expect("closed");

    // Pages and headers of the pool, and the log's ring.
    let wanted = (POOL_BYTES + (32 << 20)).div_ceil(2 << 20) as usize + 1;
    let there = ReservedPages::of(&SystemFiles::below("/")).available;
    for options in [options().policy("LARGE_PAGES", "RESERVED"), options().trace_flag(834)] {
        let engine = open(options);
        let (value, model, large, clerks) = told(&engine);
        assert_eq!(value, "RESERVED", "the flag stands for the policy");
        let memory = engine.memory().swap_remove(0);
        let text = memory.to_string();
        let seen = Kernel::look();
        if there >= wanted {
            assert!(!memory.is_refused() && !text.contains("instead"), "{text}");
            assert_eq!(model, "3 LARGE_PAGES");
            assert!(clerks.iter().all(|clerk| clerk.ends_with(" 2097152")), "{clerks:?}");
            assert!(seen.reserved.contains(&(POOL_BYTES >> 10)), "{:?}", seen.reserved);
            assert_eq!(
                seen.reserved.iter().filter(|kb| **kb == 32 << 10).count(),
                2,
                "the ring, twice: {:?}",
                seen.reserved
            );
            assert!(large as u64 >= (POOL_BYTES + (32 << 20)) >> 10, "{large} KB");
        } else {
            assert!(memory.is_refused() && text.contains("instead of reserved pages of 2 MB: "), "{text}");
            assert!(there > 0 || text.contains("0 of ") && text.contains("(vm.nr_hugepages)"), "{text}");
            assert!(there > 0 || seen.reserved.is_empty(), "{:?}", seen.reserved);
            assert_eq!(model, "1 CONVENTIONAL");
        }
        println!("{there} of {wanted} reserved pages: {text}");
        engine.shutdown().expect("closed");
    }
}
