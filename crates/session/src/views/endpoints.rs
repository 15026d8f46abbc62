//! Where clients connect: `sys.endpoints` and `tcp_endpoints` show the one endpoint that there is, the port on which T-SQL is spoken. Those of
//! HTTP, Service Broker and mirroring are views without rows.

use super::Kind::{Bit, Guid, Int, Name, Text, TinyInt};
use super::Nullable::{No, Yes};
use super::empty::{empty, none};
use super::{ColumnOf, RowBuilder, Rows, Source, View, columns_of};
use pikepole_types::SqlError;

/// `endpoint_id` of the endpoint that clients connect to without saying which: `TSQL Default TCP`.
pub(super) const DEFAULT_TCP: i32 = 4;

const ENDPOINT: &[ColumnOf] = &[
    ("name", Name, No),
    ("endpoint_id", Int, No),
    ("principal_id", Int, Yes),
    ("protocol", TinyInt, No),
    ("protocol_desc", Text(60), Yes),
    ("type", TinyInt, No),
    ("type_desc", Text(60), Yes),
    ("state", TinyInt, Yes),
    ("state_desc", Text(60), Yes),
    ("is_admin_endpoint", Bit, No),
];

pub(super) const VIEWS: &[View] = &[
    View { schema: "sys", name: "endpoints", columns: ENDPOINT, rows: endpoints },
    View {
        schema: "sys",
        name: "tcp_endpoints",
        columns: columns_of![ENDPOINT; ("port", Int, No), ("is_dynamic_port", Bit, No), ("ip_address", Text(45), Yes)],
        rows: tcp_endpoints,
    },
    View {
        schema: "sys",
        name: "http_endpoints",
        columns: columns_of![ENDPOINT;
            ("site", Text(128), Yes),
            ("url_path", Text(4000), Yes),
            ("is_clear_port_enabled", Bit, No),
            ("clear_port", Int, No),
            ("is_ssl_port_enabled", Bit, No),
            ("ssl_port", Int, No),
            ("is_anonymous_enabled", Bit, No),
            ("is_basic_auth_enabled", Bit, No),
            ("is_digest_auth_enabled", Bit, No),
            ("is_kerberos_auth_enabled", Bit, No),
            ("is_ntlm_auth_enabled", Bit, No),
            ("is_integrated_auth_enabled", Bit, No),
            ("authorization_realm", Text(128), Yes),
            ("default_logon_domain", Text(128), Yes),
            ("is_compression_enabled", Bit, No),
        ],
        rows: none,
    },
    View {
        schema: "sys",
        name: "soap_endpoints",
        columns: columns_of![ENDPOINT;
            ("is_sql_language_enabled", Bit, No),
            ("wsdl_generator_procedure", Text(776), Yes),
            ("default_database", Name, Yes),
            ("default_namespace", Text(384), Yes),
            ("default_result_schema", TinyInt, Yes),
            ("default_result_schema_desc", Text(60), Yes),
            ("is_xml_charset_enforced", Bit, No),
            ("is_session_enabled", Bit, No),
            ("session_timeout", Int, No),
            ("login_type", Text(128), Yes),
            ("header_limit", Int, No),
        ],
        rows: none,
    },
    View {
        schema: "sys",
        name: "service_broker_endpoints",
        columns: columns_of![ENDPOINT;
            ("is_message_forwarding_enabled", Bit, No),
            ("message_forwarding_size", Int, No),
            ("connection_auth", TinyInt, No),
            ("connection_auth_desc", Text(60), Yes),
            ("certificate_id", Int, Yes),
            ("encryption_algorithm", TinyInt, No),
            ("encryption_algorithm_desc", Text(60), Yes),
        ],
        rows: none,
    },
    View {
        schema: "sys",
        name: "database_mirroring_endpoints",
        columns: columns_of![ENDPOINT;
            ("role", TinyInt, Yes),
            ("role_desc", Text(60), Yes),
            ("is_encryption_enabled", Bit, No),
            ("connection_auth", TinyInt, No),
            ("connection_auth_desc", Text(60), Yes),
            ("certificate_id", Int, Yes),
            ("encryption_algorithm", TinyInt, No),
            ("encryption_algorithm_desc", Text(60), Yes),
        ],
        rows: none,
    },
    View {
        schema: "sys",
        name: "via_endpoints",
        columns: columns_of![ENDPOINT; ("discriminator", Text(128), Yes)],
        rows: none,
    },
    empty(
        "endpoint_webmethods",
        &[
            ("endpoint_id", Int, No),
            ("namespace", Text(384), Yes),
            ("method_alias", Text(64), No),
            ("object_name", Text(776), Yes),
            ("result_schema", TinyInt, Yes),
            ("result_schema_desc", Text(60), Yes),
            ("result_format", TinyInt, Yes),
            ("result_format_desc", Text(60), Yes),
        ],
    ),
    empty(
        "database_mirroring_witnesses",
        &[
            ("database_name", Name, No),
            ("principal_server_name", Text(128), Yes),
            ("mirror_server_name", Text(128), Yes),
            ("safety_level", TinyInt, No),
            ("safety_level_desc", Text(60), Yes),
            ("safety_sequence_number", Int, No),
            ("role_sequence_number", Int, No),
            ("mirroring_guid", Guid, No),
            ("family_guid", Guid, No),
            ("is_suspended", Bit, Yes),
            ("is_suspended_sequence_number", Int, Yes),
            ("partner_sync_state", TinyInt, Yes),
            ("partner_sync_state_desc", Text(60), Yes),
        ],
    ),
];

/// The endpoint of T-SQL, which `sa` owns.
fn default_tcp(view: &View) -> RowBuilder {
    /// `type`: T-SQL; `protocol`: TCP. The state is STARTED, which is zero.
    const TSQL: i32 = 2;
    const TCP: i32 = 2;
    view.row()
        .text("name", "TSQL Default TCP")
        .integer("endpoint_id", DEFAULT_TCP)
        .integer("principal_id", 1)
        .integer("protocol", TCP)
        .text("protocol_desc", "TCP")
        .integer("type", TSQL)
        .text("type_desc", "TSQL")
        .integer("state", 0)
        .text("state_desc", "STARTED")
}

fn endpoints(view: &View, _: &Source<'_>) -> Result<Rows, SqlError> {
    Ok(vec![default_tcp(view).done()])
}

/// The port is zero: which it is, is for the server's configuration to say.
fn tcp_endpoints(view: &View, _: &Source<'_>) -> Result<Rows, SqlError> {
    Ok(vec![default_tcp(view).done()])
}
