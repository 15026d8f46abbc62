//! What triggers of definitions can watch: events, and groups of them within groups, numbered as SQL Server 2022 numbers them.
//!
//! ```text
//!   DDL_EVENTS ─┬─ DDL_SERVER_LEVEL_EVENTS ── ...
//!               └─ DDL_DATABASE_LEVEL_EVENTS ─┬─ DDL_TABLE_VIEW_EVENTS ─┬─ DDL_TABLE_EVENTS ── CREATE_TABLE, ALTER_TABLE, DROP_TABLE
//!                                             │                         └─ ...
//!                                             └─ ...
//! ```
//! Most of them never happen here: a trigger can watch them all the same, and the views show them.

/// An event, or a group of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DefinitionEvent {
    /// Its number; that of a group is above 10000.
    pub number: i32,
    /// Its name in T-SQL.
    pub name: &'static str,
    /// The number of the group that it is in; zero: it is in none.
    pub group: i32,
}

/// The first number of a group.
const GROUPS_FIRST: i32 = 10_001;
/// The group of all that happens within a database.
const DATABASE_LEVEL: i32 = 10_016;

const fn event(number: i32, name: &'static str, group: i32) -> DefinitionEvent {
    DefinitionEvent { number, name, group }
}

impl DefinitionEvent {
    /// The event or group of this name, whatever its case.
    pub fn by_name(name: &str) -> Option<&'static DefinitionEvent> {
        DefinitionEvent::ALL.iter().find(|event| event.name.eq_ignore_ascii_case(name))
    }

    /// The event or group of this number.
    pub fn by_number(number: i32) -> Option<&'static DefinitionEvent> {
        DefinitionEvent::ALL.iter().find(|event| event.number == number)
    }

    /// Whether it stands for others.
    pub fn is_group(&self) -> bool {
        self.number >= GROUPS_FIRST
    }

    /// Whether it is the event or group of this number, or in that group.
    pub fn is_in(&self, number: i32) -> bool {
        self.number == number || DefinitionEvent::by_number(self.group).is_some_and(|group| group.is_in(number))
    }

    /// Whether it can happen within a database.
    pub fn is_of_database(&self) -> bool {
        self.is_in(DATABASE_LEVEL)
    }

    /// The events that it stands for: itself, or those of the group.
    pub fn events(&self) -> impl Iterator<Item = &'static DefinitionEvent> {
        let number = self.number;
        DefinitionEvent::ALL.iter().filter(move |event| !event.is_group() && event.is_in(number))
    }

    /// All of them, by number.
    pub const ALL: &'static [DefinitionEvent] = &[
        event(21, "CREATE_TABLE", 10018),
        event(22, "ALTER_TABLE", 10018),
        event(23, "DROP_TABLE", 10018),
        event(24, "CREATE_INDEX", 10020),
        event(25, "ALTER_INDEX", 10020),
        event(26, "DROP_INDEX", 10020),
        event(27, "CREATE_STATISTICS", 10021),
        event(28, "UPDATE_STATISTICS", 10021),
        event(29, "DROP_STATISTICS", 10021),
        event(34, "CREATE_SYNONYM", 10022),
        event(36, "DROP_SYNONYM", 10022),
        event(41, "CREATE_VIEW", 10019),
        event(42, "ALTER_VIEW", 10019),
        event(43, "DROP_VIEW", 10019),
        event(51, "CREATE_PROCEDURE", 10024),
        event(52, "ALTER_PROCEDURE", 10024),
        event(53, "DROP_PROCEDURE", 10024),
        event(61, "CREATE_FUNCTION", 10023),
        event(62, "ALTER_FUNCTION", 10023),
        event(63, "DROP_FUNCTION", 10023),
        event(71, "CREATE_TRIGGER", 10025),
        event(72, "ALTER_TRIGGER", 10025),
        event(73, "DROP_TRIGGER", 10025),
        event(74, "CREATE_EVENT_NOTIFICATION", 10026),
        event(76, "DROP_EVENT_NOTIFICATION", 10026),
        event(91, "CREATE_TYPE", 10028),
        event(93, "DROP_TYPE", 10028),
        event(101, "CREATE_ASSEMBLY", 10027),
        event(102, "ALTER_ASSEMBLY", 10027),
        event(103, "DROP_ASSEMBLY", 10027),
        event(131, "CREATE_USER", 10031),
        event(132, "ALTER_USER", 10031),
        event(133, "DROP_USER", 10031),
        event(134, "CREATE_ROLE", 10032),
        event(135, "ALTER_ROLE", 10032),
        event(136, "DROP_ROLE", 10032),
        event(137, "CREATE_APPLICATION_ROLE", 10033),
        event(138, "ALTER_APPLICATION_ROLE", 10033),
        event(139, "DROP_APPLICATION_ROLE", 10033),
        event(141, "CREATE_SCHEMA", 10034),
        event(142, "ALTER_SCHEMA", 10034),
        event(143, "DROP_SCHEMA", 10034),
        event(144, "CREATE_LOGIN", 10006),
        event(145, "ALTER_LOGIN", 10006),
        event(146, "DROP_LOGIN", 10006),
        event(151, "CREATE_MESSAGE_TYPE", 10042),
        event(152, "ALTER_MESSAGE_TYPE", 10042),
        event(153, "DROP_MESSAGE_TYPE", 10042),
        event(154, "CREATE_CONTRACT", 10043),
        event(156, "DROP_CONTRACT", 10043),
        event(157, "CREATE_QUEUE", 10044),
        event(158, "ALTER_QUEUE", 10044),
        event(159, "DROP_QUEUE", 10044),
        event(161, "CREATE_SERVICE", 10045),
        event(162, "ALTER_SERVICE", 10045),
        event(163, "DROP_SERVICE", 10045),
        event(164, "CREATE_ROUTE", 10046),
        event(165, "ALTER_ROUTE", 10046),
        event(166, "DROP_ROUTE", 10046),
        event(167, "GRANT_SERVER", 10007),
        event(168, "DENY_SERVER", 10007),
        event(169, "REVOKE_SERVER", 10007),
        event(170, "GRANT_DATABASE", 10035),
        event(171, "DENY_DATABASE", 10035),
        event(172, "REVOKE_DATABASE", 10035),
        event(174, "CREATE_REMOTE_SERVICE_BINDING", 10047),
        event(175, "ALTER_REMOTE_SERVICE_BINDING", 10047),
        event(176, "DROP_REMOTE_SERVICE_BINDING", 10047),
        event(177, "CREATE_XML_SCHEMA_COLLECTION", 10048),
        event(178, "ALTER_XML_SCHEMA_COLLECTION", 10048),
        event(179, "DROP_XML_SCHEMA_COLLECTION", 10048),
        event(181, "CREATE_ENDPOINT", 10003),
        event(182, "ALTER_ENDPOINT", 10003),
        event(183, "DROP_ENDPOINT", 10003),
        event(191, "CREATE_PARTITION_FUNCTION", 10050),
        event(192, "ALTER_PARTITION_FUNCTION", 10050),
        event(193, "DROP_PARTITION_FUNCTION", 10050),
        event(194, "CREATE_PARTITION_SCHEME", 10051),
        event(195, "ALTER_PARTITION_SCHEME", 10051),
        event(196, "DROP_PARTITION_SCHEME", 10051),
        event(197, "CREATE_CERTIFICATE", 10030),
        event(198, "ALTER_CERTIFICATE", 10030),
        event(199, "DROP_CERTIFICATE", 10030),
        event(201, "CREATE_DATABASE", 10004),
        event(202, "ALTER_DATABASE", 10004),
        event(203, "DROP_DATABASE", 10004),
        event(204, "ALTER_AUTHORIZATION_SERVER", 10008),
        event(205, "ALTER_AUTHORIZATION_DATABASE", 10036),
        event(206, "CREATE_XML_INDEX", 10020),
        event(207, "ADD_ROLE_MEMBER", 10032),
        event(208, "DROP_ROLE_MEMBER", 10032),
        event(209, "ADD_SERVER_ROLE_MEMBER", 10005),
        event(210, "DROP_SERVER_ROLE_MEMBER", 10005),
        event(211, "ALTER_EXTENDED_PROPERTY", 10053),
        event(212, "ALTER_FULLTEXT_CATALOG", 10054),
        event(213, "ALTER_FULLTEXT_INDEX", 10020),
        event(214, "ALTER_INSTANCE", 10002),
        event(215, "ALTER_MESSAGE", 10014),
        event(216, "ALTER_PLAN_GUIDE", 10055),
        event(217, "ALTER_REMOTE_SERVER", 10015),
        event(218, "BIND_DEFAULT", 10052),
        event(219, "BIND_RULE", 10056),
        event(220, "CREATE_DEFAULT", 10052),
        event(221, "CREATE_EXTENDED_PROCEDURE", 10011),
        event(222, "CREATE_EXTENDED_PROPERTY", 10053),
        event(223, "CREATE_FULLTEXT_CATALOG", 10054),
        event(224, "CREATE_FULLTEXT_INDEX", 10020),
        event(225, "CREATE_LINKED_SERVER", 10012),
        event(226, "CREATE_LINKED_SERVER_LOGIN", 10013),
        event(227, "CREATE_MESSAGE", 10014),
        event(228, "CREATE_PLAN_GUIDE", 10055),
        event(229, "CREATE_RULE", 10056),
        event(230, "CREATE_REMOTE_SERVER", 10015),
        event(231, "DROP_DEFAULT", 10052),
        event(232, "DROP_EXTENDED_PROCEDURE", 10011),
        event(233, "DROP_EXTENDED_PROPERTY", 10053),
        event(234, "DROP_FULLTEXT_CATALOG", 10054),
        event(235, "DROP_FULLTEXT_INDEX", 10020),
        event(236, "DROP_LINKED_SERVER_LOGIN", 10013),
        event(237, "DROP_MESSAGE", 10014),
        event(238, "DROP_PLAN_GUIDE", 10055),
        event(239, "DROP_RULE", 10056),
        event(240, "DROP_REMOTE_SERVER", 10015),
        event(241, "RENAME", 10016),
        event(242, "UNBIND_DEFAULT", 10052),
        event(243, "UNBIND_RULE", 10056),
        event(244, "CREATE_SYMMETRIC_KEY", 10037),
        event(245, "ALTER_SYMMETRIC_KEY", 10037),
        event(246, "DROP_SYMMETRIC_KEY", 10037),
        event(247, "CREATE_ASYMMETRIC_KEY", 10038),
        event(248, "ALTER_ASYMMETRIC_KEY", 10038),
        event(249, "DROP_ASYMMETRIC_KEY", 10038),
        event(251, "ALTER_SERVICE_MASTER_KEY", 10010),
        event(252, "CREATE_MASTER_KEY", 10040),
        event(253, "ALTER_MASTER_KEY", 10040),
        event(254, "DROP_MASTER_KEY", 10040),
        event(255, "ADD_SIGNATURE_SCHEMA_OBJECT", 10039),
        event(256, "DROP_SIGNATURE_SCHEMA_OBJECT", 10039),
        event(257, "ADD_SIGNATURE", 10039),
        event(258, "DROP_SIGNATURE", 10039),
        event(259, "CREATE_CREDENTIAL", 10009),
        event(260, "ALTER_CREDENTIAL", 10009),
        event(261, "DROP_CREDENTIAL", 10009),
        event(262, "DROP_LINKED_SERVER", 10012),
        event(263, "ALTER_LINKED_SERVER", 10012),
        event(264, "CREATE_EVENT_SESSION", 10057),
        event(265, "ALTER_EVENT_SESSION", 10057),
        event(266, "DROP_EVENT_SESSION", 10057),
        event(267, "CREATE_RESOURCE_POOL", 10059),
        event(268, "ALTER_RESOURCE_POOL", 10059),
        event(269, "DROP_RESOURCE_POOL", 10059),
        event(270, "CREATE_WORKLOAD_GROUP", 10060),
        event(271, "ALTER_WORKLOAD_GROUP", 10060),
        event(272, "DROP_WORKLOAD_GROUP", 10060),
        event(273, "ALTER_RESOURCE_GOVERNOR_CONFIG", 10058),
        event(274, "CREATE_SPATIAL_INDEX", 10020),
        event(275, "CREATE_CRYPTOGRAPHIC_PROVIDER", 10061),
        event(276, "ALTER_CRYPTOGRAPHIC_PROVIDER", 10061),
        event(277, "DROP_CRYPTOGRAPHIC_PROVIDER", 10061),
        event(278, "CREATE_DATABASE_ENCRYPTION_KEY", 10062),
        event(279, "ALTER_DATABASE_ENCRYPTION_KEY", 10062),
        event(280, "DROP_DATABASE_ENCRYPTION_KEY", 10062),
        event(281, "CREATE_BROKER_PRIORITY", 10063),
        event(282, "ALTER_BROKER_PRIORITY", 10063),
        event(283, "DROP_BROKER_PRIORITY", 10063),
        event(284, "CREATE_SERVER_AUDIT", 10064),
        event(285, "ALTER_SERVER_AUDIT", 10064),
        event(286, "DROP_SERVER_AUDIT", 10064),
        event(287, "CREATE_SERVER_AUDIT_SPECIFICATION", 10065),
        event(288, "ALTER_SERVER_AUDIT_SPECIFICATION", 10065),
        event(289, "DROP_SERVER_AUDIT_SPECIFICATION", 10065),
        event(290, "CREATE_DATABASE_AUDIT_SPECIFICATION", 10066),
        event(291, "ALTER_DATABASE_AUDIT_SPECIFICATION", 10066),
        event(292, "DROP_DATABASE_AUDIT_SPECIFICATION", 10066),
        event(293, "CREATE_FULLTEXT_STOPLIST", 10067),
        event(294, "ALTER_FULLTEXT_STOPLIST", 10067),
        event(295, "DROP_FULLTEXT_STOPLIST", 10067),
        event(296, "ALTER_SERVER_CONFIGURATION", 0),
        event(297, "CREATE_SEARCH_PROPERTY_LIST", 10069),
        event(298, "ALTER_SEARCH_PROPERTY_LIST", 10069),
        event(299, "DROP_SEARCH_PROPERTY_LIST", 10069),
        event(300, "CREATE_SERVER_ROLE", 10005),
        event(301, "ALTER_SERVER_ROLE", 10005),
        event(302, "DROP_SERVER_ROLE", 10005),
        event(303, "CREATE_SEQUENCE", 10070),
        event(304, "ALTER_SEQUENCE", 10070),
        event(305, "DROP_SEQUENCE", 10070),
        event(306, "CREATE_AVAILABILITY_GROUP", 10071),
        event(307, "ALTER_AVAILABILITY_GROUP", 10071),
        event(308, "DROP_AVAILABILITY_GROUP", 10071),
        event(309, "CREATE_AUDIT", 10072),
        event(310, "DROP_AUDIT", 10072),
        event(311, "ALTER_AUDIT", 10072),
        event(312, "CREATE_SECURITY_POLICY", 10073),
        event(313, "ALTER_SECURITY_POLICY", 10073),
        event(314, "DROP_SECURITY_POLICY", 10073),
        event(315, "CREATE_COLUMN_MASTER_KEY", 10074),
        event(316, "DROP_COLUMN_MASTER_KEY", 10074),
        event(317, "CREATE_COLUMN_ENCRYPTION_KEY", 10075),
        event(318, "ALTER_COLUMN_ENCRYPTION_KEY", 10075),
        event(319, "DROP_COLUMN_ENCRYPTION_KEY", 10075),
        event(320, "ALTER_DATABASE_SCOPED_CONFIGURATION", 10016),
        event(321, "CREATE_EXTERNAL_RESOURCE_POOL", 10076),
        event(322, "ALTER_EXTERNAL_RESOURCE_POOL", 10076),
        event(323, "DROP_EXTERNAL_RESOURCE_POOL", 10076),
        event(324, "CREATE_EXTERNAL_LIBRARY", 10077),
        event(325, "ALTER_EXTERNAL_LIBRARY", 10077),
        event(326, "DROP_EXTERNAL_LIBRARY", 10077),
        event(327, "ADD_SENSITIVITY_CLASSIFICATION", 10078),
        event(328, "DROP_SENSITIVITY_CLASSIFICATION", 10078),
        event(329, "CREATE_EXTERNAL_LANGUAGE", 10079),
        event(330, "ALTER_EXTERNAL_LANGUAGE", 10079),
        event(331, "DROP_EXTERNAL_LANGUAGE", 10079),
        event(10001, "DDL_EVENTS", 0),
        event(10002, "DDL_SERVER_LEVEL_EVENTS", 10001),
        event(10003, "DDL_ENDPOINT_EVENTS", 10002),
        event(10004, "DDL_DATABASE_EVENTS", 10002),
        event(10005, "DDL_SERVER_SECURITY_EVENTS", 10002),
        event(10006, "DDL_LOGIN_EVENTS", 10005),
        event(10007, "DDL_GDR_SERVER_EVENTS", 10005),
        event(10008, "DDL_AUTHORIZATION_SERVER_EVENTS", 10005),
        event(10009, "DDL_CREDENTIAL_EVENTS", 10005),
        event(10010, "DDL_SERVICE_MASTER_KEY_EVENTS", 10005),
        event(10011, "DDL_EXTENDED_PROCEDURE_EVENTS", 10002),
        event(10012, "DDL_LINKED_SERVER_EVENTS", 10002),
        event(10013, "DDL_LINKED_SERVER_LOGIN_EVENTS", 10012),
        event(10014, "DDL_MESSAGE_EVENTS", 10002),
        event(10015, "DDL_REMOTE_SERVER_EVENTS", 10002),
        event(10016, "DDL_DATABASE_LEVEL_EVENTS", 10001),
        event(10017, "DDL_TABLE_VIEW_EVENTS", 10016),
        event(10018, "DDL_TABLE_EVENTS", 10017),
        event(10019, "DDL_VIEW_EVENTS", 10017),
        event(10020, "DDL_INDEX_EVENTS", 10017),
        event(10021, "DDL_STATISTICS_EVENTS", 10017),
        event(10022, "DDL_SYNONYM_EVENTS", 10016),
        event(10023, "DDL_FUNCTION_EVENTS", 10016),
        event(10024, "DDL_PROCEDURE_EVENTS", 10016),
        event(10025, "DDL_TRIGGER_EVENTS", 10016),
        event(10026, "DDL_EVENT_NOTIFICATION_EVENTS", 10016),
        event(10027, "DDL_ASSEMBLY_EVENTS", 10016),
        event(10028, "DDL_TYPE_EVENTS", 10016),
        event(10029, "DDL_DATABASE_SECURITY_EVENTS", 10016),
        event(10030, "DDL_CERTIFICATE_EVENTS", 10029),
        event(10031, "DDL_USER_EVENTS", 10029),
        event(10032, "DDL_ROLE_EVENTS", 10029),
        event(10033, "DDL_APPLICATION_ROLE_EVENTS", 10029),
        event(10034, "DDL_SCHEMA_EVENTS", 10029),
        event(10035, "DDL_GDR_DATABASE_EVENTS", 10029),
        event(10036, "DDL_AUTHORIZATION_DATABASE_EVENTS", 10029),
        event(10037, "DDL_SYMMETRIC_KEY_EVENTS", 10029),
        event(10038, "DDL_ASYMMETRIC_KEY_EVENTS", 10029),
        event(10039, "DDL_CRYPTO_SIGNATURE_EVENTS", 10029),
        event(10040, "DDL_MASTER_KEY_EVENTS", 10029),
        event(10041, "DDL_SSB_EVENTS", 10016),
        event(10042, "DDL_MESSAGE_TYPE_EVENTS", 10041),
        event(10043, "DDL_CONTRACT_EVENTS", 10041),
        event(10044, "DDL_QUEUE_EVENTS", 10041),
        event(10045, "DDL_SERVICE_EVENTS", 10041),
        event(10046, "DDL_ROUTE_EVENTS", 10041),
        event(10047, "DDL_REMOTE_SERVICE_BINDING_EVENTS", 10041),
        event(10048, "DDL_XML_SCHEMA_COLLECTION_EVENTS", 10016),
        event(10049, "DDL_PARTITION_EVENTS", 10016),
        event(10050, "DDL_PARTITION_FUNCTION_EVENTS", 10049),
        event(10051, "DDL_PARTITION_SCHEME_EVENTS", 10049),
        event(10052, "DDL_DEFAULT_EVENTS", 10016),
        event(10053, "DDL_EXTENDED_PROPERTY_EVENTS", 10016),
        event(10054, "DDL_FULLTEXT_CATALOG_EVENTS", 10016),
        event(10055, "DDL_PLAN_GUIDE_EVENTS", 10016),
        event(10056, "DDL_RULE_EVENTS", 10016),
        event(10057, "DDL_EVENT_SESSION_EVENTS", 10002),
        event(10058, "DDL_RESOURCE_GOVERNOR_EVENTS", 10002),
        event(10059, "DDL_RESOURCE_POOL", 10058),
        event(10060, "DDL_WORKLOAD_GROUP", 10058),
        event(10061, "DDL_CRYPTOGRAPHIC_PROVIDER_EVENTS", 10005),
        event(10062, "DDL_DATABASE_ENCRYPTION_KEY_EVENTS", 10029),
        event(10063, "DDL_BROKER_PRIORITY_EVENTS", 10041),
        event(10064, "DDL_SERVER_AUDIT_EVENTS", 10005),
        event(10065, "DDL_SERVER_AUDIT_SPECIFICATION_EVENTS", 10005),
        event(10066, "DDL_DATABASE_AUDIT_SPECIFICATION_EVENTS", 10029),
        event(10067, "DDL_FULLTEXT_STOPLIST_EVENTS", 10016),
        event(10069, "DDL_SEARCH_PROPERTY_LIST_EVENTS", 10016),
        event(10070, "DDL_SEQUENCE_EVENTS", 10016),
        event(10071, "DDL_AVAILABILITY_GROUP_EVENTS", 10002),
        event(10072, "DDL_DATABASE_AUDIT_EVENTS", 10029),
        event(10073, "DDL_SECURITY_POLICY_EVENTS", 10016),
        event(10074, "DDL_COLUMN_MASTER_KEY_EVENTS", 10016),
        event(10075, "DDL_COLUMN_ENCRYPTION_KEY_EVENTS", 10016),
        event(10076, "DDL_EXTERNAL_RESOURCE_POOL_EVENTS", 10058),
        event(10077, "DDL_LIBRARY_EVENTS", 10016),
        event(10078, "DDL_SENSITIVITY_EVENTS", 10016),
        event(10079, "DDL_EXTERNAL_LANGUAGE_EVENTS", 10016),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_is_in_groups_that_are_there() {
        for event in DefinitionEvent::ALL {
            assert!(event.group == 0 || DefinitionEvent::by_number(event.group).is_some_and(DefinitionEvent::is_group));
        }
        assert!(DefinitionEvent::ALL.windows(2).all(|two| two[0].number < two[1].number));
    }

    #[test]
    fn a_group_stands_for_what_is_in_its_groups() {
        let names = |name| DefinitionEvent::by_name(name).map(|group| group.events().map(|event| event.name).collect());
        let tables: Option<Vec<&str>> = names("ddl_table_events");
        assert_eq!(tables, Some(vec!["CREATE_TABLE", "ALTER_TABLE", "DROP_TABLE"]));
        let create = DefinitionEvent::by_name("CREATE_TABLE");
        assert!(create.is_some_and(|event| event.is_of_database() && event.is_in(10_017) && !event.is_in(10_019)));
        assert!(DefinitionEvent::by_name("CREATE_LOGIN").is_some_and(|event| !event.is_of_database()));
    }
}
