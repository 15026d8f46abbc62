//! The tree is tidy: fails with the list of findings.

#[test]
fn the_tree_is_tidy() {
    let findings = xtask::tidy(&xtask::root()).expect("the tree can be read");
    let list: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(list.is_empty(), "\n{}", list.join("\n"));
}
