//! The experiments as planned for machines that are only described.

use super::*;
use pikepole_embedded::SystemFiles;
use pikepole_machine::Shape;

fn machine(shape: &Shape) -> Machine {
    Machine::read(&SystemFiles::of_shape(shape)).expect("a machine")
}

fn shapes() -> Vec<Shape> {
    vec![
        Shape::new(1, 1, 1, 1),
        Shape::new(1, 1, 2, 1),
        Shape::new(1, 1, 6, 2),
        Shape::new(2, 1, 10, 2),
        Shape::new(8, 1, 24, 1),
        Shape { affinity: Some(vec![3, 4, 35]), ..Shape::new(2, 1, 16, 2) },
    ]
}

#[test]
fn every_plan_names_only_what_it_has() {
    for shape in shapes() {
        let machine = machine(&shape);
        for experiment in EXPERIMENTS {
            let plan = (experiment.plan)(&machine);
            assert!(!plan.panels.is_empty() && !plan.shows.is_empty(), "{}", experiment.name);
            for panel in &plan.panels {
                assert!(!panel.arms.is_empty() && panel.sessions.is_sorted() && !panel.sessions.contains(&0));
                assert!(panel.charts.contains(&Metric::Rows));
                for other in 1..panel.arms.len() {
                    assert_ne!(panel.arms[0].settings(), panel.arms[other].settings(), "{}", experiment.name);
                }
            }
            for claim in &plan.claims {
                let arms = &plan.panels[claim.panel].arms;
                assert!(claim.from < arms.len() && claim.to < arms.len(), "{}: {}", experiment.name, claim.text);
            }
        }
    }
}

#[test]
fn the_published_machine_gets_the_published_mask() {
    let plan = affinity(&machine(&Shape::new(2, 1, 10, 2)));
    let arms: Vec<_> = plan.panels[0].arms.iter().map(|arm| arm.statements.as_slice()).collect();
    let mask = "ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = 1 TO 19, 21 TO 39";
    let wrong = "ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = 0 TO 18, 20 TO 38";
    assert_eq!(arms, [&[][..], &[mask.to_owned()], &[wrong.to_owned()]]);
    assert!(plan.cannot.is_empty(), "{:?}", plan.cannot);
    assert!(plan.panels[0].arms[1].policies.contains(&("LOG_WRITER_CPUS".to_owned(), "0".to_owned())));
    let far = distance(&machine(&Shape::new(2, 1, 10, 2)));
    assert_eq!(far.panels[0].arms.len(), 3);
    assert!(far.panels[0].arms[2].statements[0].ends_with("CPU = 10"));
}

#[test]
fn small_machines_say_what_they_cannot_show() {
    let two = machine(&Shape::new(1, 1, 2, 1));
    assert!(affinity(&two).cannot.iter().any(|line| line.contains("1 of 2 CPUs")));
    assert!(distance(&two).cannot.iter().any(|line| line.contains("one socket")));
    assert!(trace_flags(&two).cannot.iter().any(|line| line.contains("one memory node")));
    let one = affinity(&machine(&Shape::new(1, 1, 1, 1)));
    assert_eq!((one.panels[0].arms.len(), one.claims.len()), (1, 0), "nothing to compare, nothing to claim");
}

#[test]
fn names_that_are_none_are_told() {
    assert_eq!(find("AFFINITY").expect("an experiment").name, "affinity");
    let error = find("nothing").expect_err("refused").to_string();
    assert!(error.contains("policies, affinity"), "{error}");
}
