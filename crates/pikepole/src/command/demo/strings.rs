//! Connection strings, as the documents of the drivers write them.

use super::visit::DATABASE;
use std::path::Path;

/// In the place of a password that is not shown.
const HIDDEN: &str = "<PASSWORD>";

/// Where a server of this computer is.
pub struct Endpoint<'a> {
    pub port: u16,
    /// The password of `sa`: letters and digits, which no string has to quote. None: it is not shown.
    pub password: Option<&'a str>,
    /// What clients may trust.
    pub certificate: &'a Path,
}

impl Endpoint<'_> {
    /// The password as it is shown.
    pub fn password(&self) -> &str {
        self.password.unwrap_or(HIDDEN)
    }

    /// A string for each driver, which accepts any certificate.
    pub fn strings(&self) -> [(&'static str, String); 8] {
        let (port, password, database) = (self.port, self.password(), DATABASE);
        let ado = format!(
            "Server=tcp:localhost,{port};Database={database};User ID=sa;Password={password};Encrypt=True;\
             TrustServerCertificate=True"
        );
        [
            ("sqlcmd", format!("sqlcmd -S tcp:localhost,{port} -U sa -P '{password}' -C -d {database}")),
            (
                "ODBC",
                format!(
                    "Driver={{ODBC Driver 18 for SQL Server}};Server=tcp:localhost,{port};Database={database};UID=sa;\
                     PWD={password};Encrypt=yes;TrustServerCertificate=yes"
                ),
            ),
            (
                "JDBC",
                format!(
                    "jdbc:sqlserver://localhost:{port};databaseName={database};user=sa;password={password};\
                     encrypt=true;trustServerCertificate=true"
                ),
            ),
            (
                "go-mssqldb",
                format!(
                    "sqlserver://sa:{password}@localhost:{port}?database={database}&encrypt=true&\
                     TrustServerCertificate=true"
                ),
            ),
            (
                "tedious",
                format!(
                    "{{ server: 'localhost', authentication: {{ type: 'default', options: {{ userName: 'sa', \
                     password: '{password}' }} }}, options: {{ port: {port}, database: '{database}', encrypt: true, \
                     trustServerCertificate: true }} }}"
                ),
            ),
            ("SqlClient", ado.clone()),
            (
                "SQLAlchemy",
                format!(
                    "mssql+pyodbc://sa:{password}@localhost:{port}/{database}?driver=ODBC+Driver+18+for+SQL+Server&\
                     TrustServerCertificate=yes"
                ),
            ),
            ("tiberius", ado),
        ]
    }
}

/// What changes in a string for the certificate to be verified: FILE is the server's.
pub const VERIFIED: [(&str, &str); 6] = [
    ("ODBC", "Encrypt=strict;ServerCertificate=FILE"),
    ("JDBC", "encrypt=strict;serverCertificate=FILE"),
    ("go-mssqldb", "certificate=FILE&TrustServerCertificate=false"),
    ("tedious", "trustServerCertificate: false, and NODE_EXTRA_CA_CERTS=FILE in the environment"),
    ("SqlClient", "Encrypt=Strict;ServerCertificate=FILE"),
    ("tiberius", "TrustServerCertificateCA=FILE"),
];
