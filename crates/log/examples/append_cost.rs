use pikepole_contention::Statistics;
use pikepole_log::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;
fn main() {
    let dir = std::env::args().nth(1).unwrap();
    for res in [Reservation::Atomic, Reservation::Spinlock] {
        for threads in [1usize, 2] {
            let _ = std::fs::remove_dir_all(&dir);
            let stats = Statistics::new();
            let opts = LogOptions {
                bytes_max: 1 << 30,
                segment_bytes: 256 << 20,
                first_segment_bytes: 256 << 20,
                reservation: res,
                ..Default::default()
            };
            let disk = pikepole_machine::Disk::real();
            let t = Instant::now();
            let log = Arc::new(Log::create(&disk, &dir, opts, &stats).unwrap());
            println!("create {:?}", t.elapsed());
            let stop = Arc::new(AtomicBool::new(false));
            let total = Arc::new(AtomicU64::new(0));
            let full = Arc::new(AtomicU64::new(0));
            let w = {
                let (log, stop) = (log.clone(), stop.clone());
                std::thread::spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        if !matches!(log.flush_step(), FlushOutcome::Wrote(_)) {
                            std::thread::yield_now()
                        }
                        log.truncate(log.durable());
                    }
                })
            };
            let t = Instant::now();
            let hs: Vec<_> = (0..threads)
                .map(|_| {
                    let (log, total, full) = (log.clone(), total.clone(), full.clone());
                    std::thread::spawn(move || {
                        let body = [5u8; 47];
                        let mut n = 0u64;
                        let mut f = 0u64;
                        let mut busy = std::time::Duration::ZERO;
                        while n < 20_000_000 / threads as u64 {
                            let t = Instant::now();
                            let mut e = None;
                            for _ in 0..1000 {
                                match log.append(47, |out, _| out.copy_from_slice(&body)) {
                                    Ok(_) => n += 1,
                                    Err(x) => {
                                        e = Some(x);
                                        break;
                                    }
                                }
                            }
                            busy += t.elapsed();
                            if e.is_some() {
                                f += 1;
                                std::thread::yield_now();
                            }
                        }
                        total.fetch_add(busy.as_nanos() as u64, Ordering::Relaxed);
                        full.fetch_add(f, Ordering::Relaxed);
                    })
                })
                .collect();
            for h in hs {
                h.join().unwrap();
            }
            let el = t.elapsed();
            stop.store(true, Ordering::Relaxed);
            w.join().unwrap();
            println!(
                "{res:?} {threads} threads: busy {:.1} ns/record/thread, wall {:.1} M/s, refused {}",
                total.load(Ordering::Relaxed) as f64 / 20e6,
                20.0 / el.as_secs_f64(),
                full.load(Ordering::Relaxed)
            );
            drop(log);
            let t = Instant::now();
            let log = Log::open(
                &disk,
                &dir,
                LogOptions { bytes_max: 1 << 30, segment_bytes: 256 << 20, ..Default::default() },
                &stats,
                Lsn::OLDEST,
            )
            .unwrap();
            println!("open {:?}", t.elapsed());
            let t = Instant::now();
            let mut r = log.1;
            let mut n = 0u64;
            let mut b = 0u64;
            while let Some((s, _, e)) = r.next().unwrap() {
                n += 1;
                b += e.0 - s.0;
            }
            println!("read {n} records {} MB in {:?}", b >> 20, t.elapsed());
        }
    }
    let _ = std::fs::remove_dir_all(&dir);
    let stats = Statistics::new();
    let disk = pikepole_machine::Disk::real();
    let t = Instant::now();
    let log = Log::create(&disk, &dir, LogOptions::default(), &stats).unwrap();
    println!("create default {:?}", t.elapsed());
    let t = Instant::now();
    for i in 0..2000 {
        let p = log.append(47, |out, _| out.fill(1)).unwrap();
        log.flush_step();
        assert!(log.durable() >= p.end);
        let _ = i;
    }
    println!("2000 single commits {:?}", t.elapsed());
    drop(log);
    let t = Instant::now();
    let _l = Log::open(&disk, &dir, LogOptions::default(), &stats, Lsn::OLDEST).unwrap();
    println!("open default {:?}", t.elapsed());
    let _ = std::fs::remove_dir_all(&dir);
}
