//! What the machine itself can do: its CPUs and its disk, in tables with units and as JSON.

pub mod cpu;
pub mod disk;

/// A heat map of one row and one column a CPU: numbers, and a shade for each between the least and the most.
pub(crate) fn heat_map(cpus: &[usize], values: &[Vec<Option<f64>>]) -> String {
    const SHADES: [char; 5] = [' ', '\u{2591}', '\u{2592}', '\u{2593}', '\u{2588}'];
    let known = || values.iter().flatten().flatten().copied();
    let (least, most) = (known().fold(f64::INFINITY, f64::min), known().fold(0.0, f64::max));
    let shade = |value: f64| {
        let part = if most > least { (value - least) / (most - least) } else { 0.0 };
        SHADES[((part * 4.0).round() as usize).min(4)]
    };
    let mut text = String::from("       ");
    for cpu in cpus {
        text.push_str(&format!("{cpu:>7}"));
    }
    for (cpu, row) in cpus.iter().zip(values) {
        text.push_str(&format!("\n{cpu:>5}  "));
        for value in row {
            match value {
                Some(value) => text.push_str(&format!("{value:>6.0}{}", shade(*value))),
                None => text.push_str("      -"),
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_map_shades_from_least_to_most() {
        let values = vec![vec![None, Some(40.0), Some(120.0)], vec![Some(40.0), None, Some(80.0)]];
        let map = super::heat_map(&[0, 1, 8], &values);
        let expected =
            "             0      1      8\n    0        -    40    120\u{2588}\n    1      40       -    80\u{2592}";
        assert_eq!(map, expected);
    }
}
