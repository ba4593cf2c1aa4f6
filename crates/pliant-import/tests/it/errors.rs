//! Broken files: typed errors with line, column and caret.

use pliant_import::{Format, ImportError, Options, import_file, import_text};

fn error(text: &str) -> (ImportError, String) {
    let error = import_text(Format::Urdf, "r.urdf", text, &Options::default()).unwrap_err();
    let shown = error.to_string();
    (error, shown)
}

#[test]
fn what_is_no_xml_is_shown_where_it_ends_to_be() {
    let (error, shown) = error("<robot name=\"r\">\n  <link name=\"a\">\n</robot>");
    assert!(matches!(error, ImportError::Syntax(_)));
    assert!(
        shown.contains("--> r.urdf:3:") && shown.contains("3 | </robot>"),
        "{shown}"
    );
    assert!(!shown.contains(" at 3:"), "{shown}");
}

#[test]
fn entities_are_refused() {
    let bomb = "<!DOCTYPE r [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;\">]>\n<robot name=\"&b;\"/>";
    let (error, shown) = error(bomb);
    assert!(matches!(error, ImportError::Syntax(_)), "{shown}");
    assert!(shown.contains("document types"), "{shown}");
}

#[test]
fn deep_nesting_is_refused_without_a_stack() {
    let deep = format!("<robot name=\"r\">{}", "<a>".repeat(300_000));
    let (error, shown) = error(&deep);
    assert!(matches!(error, ImportError::Syntax(_)));
    assert!(shown.contains("nested more than 256 deep"), "{shown}");
}

#[test]
fn values_are_shown_with_a_caret() {
    let link = |inside: &str| format!("<robot name=\"r\">\n<link name=\"a\">{inside}</link>\n</robot>");
    for (text, expected) in [
        (
            link("<inertial><mass value=\"heavy\"/></inertial>"),
            "`value` has `heavy` where a number is expected",
        ),
        (
            link("<inertial><mass value=\"-1\"/></inertial>"),
            "`value` is -1, which is below zero",
        ),
        (
            link("<inertial><mass value=\"nan\"/></inertial>"),
            "`nan` where a number",
        ),
        (
            link("<inertial><origin xyz=\"1 2\"/></inertial>"),
            "`xyz` has 2 numbers where 3 are expected",
        ),
        (link("<collision/>"), "`collision` has no `geometry`"),
        (
            link("<collision><geometry><sphere/></geometry></collision>"),
            "`sphere` has no `radius`",
        ),
        (
            link("<collision><geometry><sphere radius=\"-1\"/></geometry></collision>"),
            "negative size",
        ),
    ] {
        let (error, shown) = error(&text);
        assert!(matches!(error, ImportError::Value(_)), "{shown}");
        assert!(
            shown.contains(expected) && shown.contains("r.urdf:2:") && shown.contains('^'),
            "{shown}"
        );
    }
}

#[test]
fn trees_are_checked() {
    let links = "<link name=\"a\"/><link name=\"b\"/><link name=\"c\"/>";
    let joint = |name: &str, kind: &str, parent: &str, child: &str| {
        format!(
            "<joint name=\"{name}\" type=\"{kind}\"><parent link=\"{parent}\"/><child link=\"{child}\"/></joint>"
        )
    };
    let robot = |joints: &[String]| format!("<robot name=\"r\">{links}{}</robot>", joints.join("\n"));
    for (text, expected) in [
        (robot(&[]), "no joint holds the links `a` and `b`"),
        (
            robot(&[joint("j", "fixed", "a", "b"), joint("k", "fixed", "a", "b")]),
            "child of two joints, `j` and `k`",
        ),
        (
            robot(&[joint("j", "fixed", "a", "b"), joint("j", "fixed", "a", "c")]),
            "the joint `j` is there twice",
        ),
        (
            robot(&[joint("j", "fixed", "b", "c"), joint("k", "fixed", "c", "b")]),
            "hangs in a loop",
        ),
        (robot(&[joint("j", "fixed", "a", "d")]), "there is no link `d`"),
        (
            robot(&[joint("j", "revolut", "a", "b"), joint("k", "fixed", "a", "c")]),
            "did you mean `revolute`?",
        ),
        ("<robot name=\"r\"/>".to_owned(), "no `link`"),
        (
            "<robot name=\"r\"><link name=\"a\"/><link name=\"a\"/></robot>".to_owned(),
            "the link `a` is there twice",
        ),
        ("<scene/>".to_owned(), "neither a robot of URDF"),
    ] {
        let (_, shown) = error(&text);
        assert!(shown.contains(expected), "{expected}:\n{shown}");
    }
}

#[test]
fn rows_that_follow_themselves_are_refused() {
    let link = |n: &str| format!("<link name=\"{n}\"/>");
    let joint = |n: &str, child: &str, other: &str| {
        format!(
            "<joint name=\"{n}\" type=\"continuous\"><parent link=\"a\"/><child link=\"{child}\"/><mimic joint=\"{other}\"/></joint>"
        )
    };
    let text = |first: &str, second: &str| {
        format!(
            "<robot name=\"r\">{}{}{}{}{}</robot>",
            link("a"),
            link("b"),
            link("c"),
            joint("j", "b", first),
            joint("k", "c", second)
        )
    };
    assert!(error(&text("k", "j")).1.contains("follows itself"));
    assert!(error(&text("x", "j")).1.contains("there is no moving joint `x`"));
}

#[test]
fn files_that_are_missing_or_no_text_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let missing = import_file(&folder.path().join("none.urdf"), &Options::default()).unwrap_err();
    assert!(matches!(missing, ImportError::Read { .. }));
    let path = folder.path().join("bad.urdf");
    std::fs::write(&path, b"<robot>\n\xff</robot>").unwrap();
    let shown = import_file(&path, &Options::default()).unwrap_err().to_string();
    assert!(shown.contains("not UTF-8") && shown.contains(":2:1"), "{shown}");
}

#[test]
fn numbers_that_overflow_are_refused() {
    let text = "<robot name=\"r\"><link name=\"inf\"><inertial><origin xyz=\"1e200 0 0\"/><mass value=\"1e300\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link><link name=\"b\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link><joint name=\"j\" type=\"fixed\"><parent link=\"inf\"/><child link=\"b\"/></joint></robot>";
    let (_, shown) = error(text);
    assert!(shown.contains("not finite"), "{shown}");
}

#[test]
fn elements_with_too_many_attributes_are_refused() {
    let attributes = |count: usize| (0..count).map(|i| format!(" a{i}=\"=\"")).collect::<String>();
    let link = |count: usize| format!("<robot>\n<link name=\"a\"{}/></robot>", attributes(count));
    let options = Options::default();
    let made = import_text(Format::Urdf, "r.urdf", &link(199), &options).unwrap();
    assert!(
        made.remarks
            .iter()
            .any(|r| r.message.contains("`a198` of `link`"))
    );
    let (error, shown) = error(&link(200));
    assert!(matches!(error, ImportError::Syntax(_)), "{shown}");
    assert!(
        shown.contains("more than 200 attributes") && shown.contains("r.urdf:2:1"),
        "{shown}"
    );
}

/// Classes inside of classes have the attributes of all around them: their number is bounded.
#[test]
fn classes_with_too_many_attributes_are_refused() {
    let geom = |level: usize| -> String {
        let attributes: String = (0..150).map(|i| format!(" a{level}_{i}=\"1\"")).collect();
        format!("<geom{attributes}/>")
    };
    let model = |inside: &str| format!("<mujoco><default>{inside}</default></mujoco>");
    let nested = format!("{}<default class=\"c\">{}</default>", geom(0), geom(1));
    let leaves: String = (0..7000)
        .map(|i| format!("<default class=\"c{i}\"><geom b=\"1\"/></default>"))
        .collect();
    for (text, expected) in [
        (model(&nested), "a class has more than 200 attributes of `geom`"),
        (
            model(&format!("{}{leaves}", geom(0))),
            "classes of defaults have more than 1000000 attributes",
        ),
    ] {
        let error = import_text(Format::Mjcf, "m.xml", &text, &Options::default()).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

/// Files that each stay within the limit of nesting, but not one in the other.
#[test]
fn nesting_across_includes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (count, depth) = (40, 200);
    for number in 0..count {
        let open = "<default class=\"c\">".repeat(depth);
        let next = match number + 1 {
            last if last == count => String::new(),
            next => format!("<include file=\"{next}.xml\"/>"),
        };
        let text = format!("<mujoco>{open}{next}{}</mujoco>", "</default>".repeat(depth));
        std::fs::write(folder.path().join(format!("{number}.xml")), text).unwrap();
    }
    let error = import_file(&folder.path().join("0.xml"), &Options::default()).unwrap_err();
    assert!(matches!(error, ImportError::Syntax(_)));
    let shown = error.to_string();
    assert!(
        shown.contains("nested more than 256 deep, with the files around them") && shown.contains("1.xml:1:"),
        "{shown}"
    );
}

/// A file of which nothing is known does not become a scene of comments.
#[test]
fn remarks_beyond_ten_thousand_are_counted() {
    let remarks = |count: usize| {
        let unknown: String = (0..count).map(|i| format!("<part{i}/>")).collect();
        let text = format!("<robot><link name=\"a\"/>{unknown}</robot>");
        let made = import_text(Format::Urdf, "r.urdf", &text, &Options::default());
        made.unwrap().remarks
    };
    let (few, many) = (remarks(0), remarks(10_100));
    assert_eq!(many.len(), 10_001);
    let expected = format!("there are {} more remarks, which are not told", few.len() + 100);
    assert_eq!(many[10_000].message, expected);
}
