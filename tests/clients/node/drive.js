// Tries tedious; prints a line a feature as python/drive.py does.
import { Connection, ISOLATION_LEVEL, Request, TYPES } from 'tedious';

const env = process.env;
const encrypted = env.PIKEPOLE_ENCRYPT === 'on';

function connect(more = {}) {
  const { password, ...options } = more;
  const connection = new Connection({
    server: env.PIKEPOLE_HOST,
    authentication: { type: 'default', options: { userName: env.PIKEPOLE_USER, password: password ?? env.PIKEPOLE_PASSWORD } },
    options: {
      port: Number(env.PIKEPOLE_PORT), database: 'master', encrypt: encrypted, trustServerCertificate: true,
      rowCollectionOnRequestCompletion: false, connectTimeout: 20000, requestTimeout: 120000, useUTC: true, ...options,
    },
  });
  connection.on('error', () => {});
  return new Promise((resolve, reject) => connection.connect((error) => (error ? reject(error) : resolve(connection))));
}

async function connected(work, options) {
  const connection = await connect(options);
  try {
    return await work(connection);
  } finally {
    connection.close();
  }
}

// Runs a request; gives its rows as arrays, its result sets' columns, its output parameters and its return status.
function ask(connection, sql, { parameters = [], outputs = [], how = 'execSql', onRequest } = {}) {
  return new Promise((resolve, reject) => {
    const answer = { rows: [], sets: [], outputs: {}, status: undefined };
    const request = new Request(sql, (error, count) => (error ? reject(error) : resolve({ ...answer, count })));
    for (const [name, type, value, options] of parameters) request.addParameter(name, type, value, options);
    for (const [name, type] of outputs) request.addOutputParameter(name, type);
    request.on('columnMetadata', (columns) => answer.sets.push({ columns: columns.map((column) => column.colName), rows: [] }));
    request.on('row', (columns) => {
      const row = columns.map((column) => column.value);
      answer.rows.push(row);
      answer.sets.at(-1).rows.push(row);
    });
    request.on('returnValue', (name, value) => { answer.outputs[name] = value; });
    request.on('doneProc', (_count, _more, status) => { answer.status = status; });
    connection[how](request);
    onRequest?.(request);
  });
}

const batch = (connection, sql) => ask(connection, sql, { how: 'execSqlBatch' });

function equal(got, expected, what) {
  const text = (value) => JSON.stringify(value, (_key, item) => (Buffer.isBuffer(item) ? `0x${item.toString('hex')}` : typeof item === 'bigint' ? `${item}` : item));
  if (text(got) !== text(expected)) throw new Error(`${what}: ${text(got).slice(0, 120)} instead of ${text(expected).slice(0, 120)}`);
}

async function fails(work, number, line) {
  try {
    await work();
  } catch (error) {
    const cause = error.errors?.[0] ?? error;
    if (number !== undefined && cause.number !== number) throw new Error(`error ${cause.number} instead of ${number}: ${cause.message}`);
    if (line !== undefined && cause.lineNumber !== line) throw new Error(`line ${cause.lineNumber} instead of ${line}`);
    return cause;
  }
  throw new Error('no error');
}

const beyond = 'täxt \u4e2d\u6587 \u{1f40e}\u{10348}';
const VALUES = [
  ['bit', TYPES.Bit, [true, false]],
  ['tinyint', TYPES.TinyInt, [0, 255]],
  ['smallint', TYPES.SmallInt, [-32768, 32767]],
  ['int', TYPES.Int, [-(2 ** 31), 2 ** 31 - 1]],
  ['bigint', TYPES.BigInt, ['-9223372036854775808', '9223372036854775807']],
  ['decimal(15,4)', TYPES.Decimal, [12345678901.2345, -0.0001], { precision: 15, scale: 4 }],
  ['money', TYPES.Money, [-1234567.8901, 0]],
  ['float', TYPES.Float, [1.7976931348623157e308, 0.1]],
  ['real', TYPES.Real, [0.5, -3.5]],
  ['date', TYPES.Date, [new Date(Date.UTC(2024, 1, 29)), new Date(Date.UTC(9999, 11, 31))]],
  ['datetime', TYPES.DateTime, [new Date(Date.UTC(1753, 0, 1)), new Date(Date.UTC(2024, 1, 29, 12, 30, 15, 123))]],
  ['smalldatetime', TYPES.SmallDateTime, [new Date(Date.UTC(2000, 0, 1, 1, 2))]],
  ['datetime2(3)', TYPES.DateTime2, [new Date(Date.UTC(2024, 1, 29, 12, 30, 15, 123)), new Date(Date.UTC(9999, 11, 31, 23, 59, 59, 999))], { scale: 3 }],
  ['datetimeoffset(3)', TYPES.DateTimeOffset, [new Date(Date.UTC(2024, 1, 29, 12, 30, 15, 123))], { scale: 3 }],
  ['varchar(8000)', TYPES.VarChar, ['', 'plain', 'x'.repeat(8000)]],
  ['varchar(max)', TYPES.VarChar, ['y'.repeat(7000)]],
  ['nvarchar(4000)', TYPES.NVarChar, ['', beyond, '\u4e2d'.repeat(2000)]],
  ['nvarchar(max)', TYPES.NVarChar, [beyond.repeat(250)]],
  ['varbinary(8000)', TYPES.VarBinary, [Buffer.alloc(0), Buffer.from('00ff10', 'hex')]],
  ['varbinary(max)', TYPES.VarBinary, [Buffer.alloc(7000, 7)]],
  ['text', TYPES.Text, ['', 'plain', 'y'.repeat(9000)]],
  ['ntext', TYPES.NVarChar, [beyond, beyond.repeat(250)]],
  ['image', TYPES.Image, [Buffer.from('00ff10', 'hex'), Buffer.alloc(9000, 7)]],
  ['uniqueidentifier', TYPES.UniqueIdentifier, ['00112233-4455-6677-8899-AABBCCDDEEFF']],
];

const LONG = [
  ['nvarchar(4000)', TYPES.NVarChar, '\u4e2d'.repeat(4000)],
  ['varchar(max)', TYPES.VarChar, 'y'.repeat(100000)],
  ['nvarchar(max)', TYPES.NVarChar, beyond.repeat(20000)],
  ['varbinary(max)', TYPES.VarBinary, Buffer.alloc(300000, 7)],
];

// Collations whose code pages have these texts: a client decodes a varchar by its column's collation.
const CODE_PAGES = [
  ['Cyrillic_General_CI_AS', '\u041f\u0440\u0438\u0432\u0435\u0442'],
  ['SQL_Latin1_General_CP1251_CI_AS', '\u041f\u0440\u0438\u0432\u0435\u0442'],
  ['Greek_CI_AS', '\u0393\u03b5\u03b9\u03ac'],
  ['Czech_CI_AS', '\u010de\u0161tina'],
  ['Turkish_CI_AS', '\u0130\u0131\u011f\u015f'],
  ['Hebrew_CI_AS', '\u05e9\u05dc\u05d5\u05dd'],
  ['Arabic_CI_AS', '\u0633\u0644\u0627\u0645'],
  ['Latvian_CI_AS', '\u0137\u012bmija'],
  ['Thai_CI_AS', '\u0e44\u0e17\u0e22'],
  ['Japanese_CI_AS', '\u65e5\u672c\u8a9e\uff71'],
  ['Chinese_PRC_CI_AS', '\u4e2d\u6587'],
  ['Chinese_Taiwan_Stroke_CI_AS', '\u7e41\u9ad4'],
  ['Korean_Wansung_CI_AS', '\ud55c\uae00'],
  ['Latin1_General_100_CI_AS_SC_UTF8', '\u00e9\u65e5\ud83d\ude00'],
];

const features = {
  connect: async () => {
    await connected(async (connection) => {
      const { rows } = await batch(connection, 'SELECT DB_NAME(), CASE WHEN @@VERSION LIKE \'%Pikepole%\' THEN 1 ELSE 0 END');
      equal(rows, [['master', 1]], 'answer');
    });
    await fails(() => connect({ password: 'not the password' }));
  },
  'types round trip': () => connected(async (connection) => {
    for (const [type, kind, values, options] of VALUES) {
      await batch(connection, `DROP TABLE IF EXISTS dbo.node_t; CREATE TABLE dbo.node_t (n int PRIMARY KEY, v ${type})`);
      const all = [...values, null];
      for (const [n, v] of all.entries()) {
        await ask(connection, 'INSERT dbo.node_t VALUES (@n, @v)', { parameters: [['n', TYPES.Int, n], ['v', kind, v, options]] });
      }
      const { rows } = await batch(connection, 'SELECT v FROM dbo.node_t ORDER BY n');
      equal(rows.map(([value]) => value), all, type);
    }
  }),
  'code pages': () => connected(async (connection) => {
    for (const [collation, text] of CODE_PAGES) {
      await batch(connection, `DROP TABLE IF EXISTS dbo.page_t; CREATE TABLE dbo.page_t (v varchar(20) COLLATE ${collation})`);
      await ask(connection, 'INSERT dbo.page_t VALUES (@v)', { parameters: [['v', TYPES.NVarChar, text]] });
      const { rows } = await batch(connection, 'SELECT v FROM dbo.page_t');
      equal(rows, [[text]], collation);
    }
  }),
  'long values': () => connected(async (connection) => {
    for (const [type, kind, value] of LONG) {
      const { rows } = await ask(connection, 'SELECT @v', { parameters: [['v', kind, value]] });
      equal(rows, [[value]], type);
    }
  }),
  'long values stored': () => connected(async (connection) => {
    for (const [type, kind, value] of LONG) {
      await batch(connection, `DROP TABLE IF EXISTS dbo.node_l; CREATE TABLE dbo.node_l (v ${type})`);
      await ask(connection, 'INSERT dbo.node_l VALUES (@v)', { parameters: [['v', kind, value]] });
      equal((await batch(connection, 'SELECT v FROM dbo.node_l')).rows, [[value]], type);
    }
  }),
  parameters: () => connected(async (connection) => {
    const { rows } = await ask(connection, 'SELECT @a + 1 AS a, @b AS b', { parameters: [['a', TYPES.Int, 41], ['b', TYPES.NVarChar, "o'brien"]] });
    equal(rows, [[42, "o'brien"]], 'answer');
  }),
  procedures: () => connected(async (connection) => {
    await batch(connection, 'DROP PROCEDURE IF EXISTS dbo.node_p');
    await batch(connection, 'CREATE PROCEDURE dbo.node_p @a int, @sum int OUTPUT AS BEGIN SET @sum = @a + 5; SELECT @sum AS s; RETURN 7 END');
    const { rows, outputs, status } = await ask(connection, 'dbo.node_p', { parameters: [['a', TYPES.Int, 3]], outputs: [['sum', TYPES.Int]], how: 'callProcedure' });
    equal([rows, outputs, status], [[[8]], { sum: 8 }, 7], 'answer');
  }),
  'table-valued parameters': () => connected(async (connection) => {
    await batch(connection, 'DROP PROCEDURE IF EXISTS dbo.node_tvp; DROP TYPE IF EXISTS dbo.node_list');
    await batch(connection, 'CREATE TYPE dbo.node_list AS TABLE (id int, name nvarchar(20))');
    await batch(connection, 'CREATE PROCEDURE dbo.node_tvp @list dbo.node_list READONLY AS SELECT COUNT(*), MAX(name) FROM @list');
    const value = { schema: 'dbo', name: 'node_list', columns: [{ name: 'id', type: TYPES.Int }, { name: 'name', type: TYPES.NVarChar, length: 20 }], rows: [[1, 'a'], [2, 'b']] };
    const { rows } = await ask(connection, 'dbo.node_tvp', { parameters: [['list', TYPES.TVP, value]], how: 'callProcedure' });
    equal(rows, [[2, 'b']], 'answer');
  }),
  'prepared statements': () => connected(async (connection) => {
    const request = new Request('SELECT @v * 2 AS twice', () => {});
    request.addParameter('v', TYPES.Int);
    await new Promise((resolve, reject) => {
      request.on('prepared', resolve);
      request.on('error', reject);
      connection.prepare(request);
    });
    for (const v of [1, 21]) {
      const got = [];
      await new Promise((resolve, reject) => {
        request.userCallback = (error) => (error ? reject(error) : resolve());
        request.callback = request.userCallback;
        request.on('row', (columns) => got.push(columns[0].value));
        connection.execute(request, { v });
      });
      request.removeAllListeners('row');
      equal(got, [v * 2], 'answer');
    }
    await new Promise((resolve) => { request.callback = resolve; connection.unprepare(request); });
    equal((await batch(connection, 'SELECT 1')).rows, [[1]], 'afterwards');
  }),
  transactions: () => connected(async (connection) => {
    await batch(connection, 'DROP TABLE IF EXISTS dbo.node_x; CREATE TABLE dbo.node_x (a int)');
    const call = (method, ...rest) => new Promise((resolve, reject) => connection[method]((error) => (error ? reject(error) : resolve()), ...rest));
    await call('beginTransaction', 'first', ISOLATION_LEVEL.READ_COMMITTED);
    await batch(connection, 'INSERT dbo.node_x VALUES (1)');
    await call('rollbackTransaction');
    await call('beginTransaction');
    await batch(connection, 'INSERT dbo.node_x VALUES (2)');
    await call('saveTransaction', 'here');
    await batch(connection, 'INSERT dbo.node_x VALUES (3)');
    await call('rollbackTransaction', 'here');
    await call('commitTransaction');
    equal((await batch(connection, 'SELECT a FROM dbo.node_x')).rows, [[2]], 'rows');
    equal((await batch(connection, 'SELECT @@TRANCOUNT')).rows, [[0]], 'transactions');
  }),
  errors: () => connected(async (connection) => {
    await fails(() => batch(connection, 'SELECT 1\nSELECT * FROM dbo.nowhere'), 208, 2);
    await fails(() => batch(connection, 'SELECT 1 +\n\n* FROM'), undefined, 3);
    await fails(() => ask(connection, 'DECLARE @i int = 0;\nSELECT 1 / @i'), 8134, 2);
    const error = await fails(() => batch(connection, "RAISERROR('of our own', 16, 3)"), 50000, 1);
    equal([error.state, error.class], [3, 16], 'state and class');
    equal((await batch(connection, 'SELECT 1')).rows, [[1]], 'afterwards');
  }),
  'result sets': () => connected(async (connection) => {
    const { sets } = await batch(connection, "SELECT 1 AS a; SELECT 'x' AS b, 2 AS c; SELECT 3 AS d WHERE 1 = 0; SELECT 4 AS e");
    equal(sets, [{ columns: ['a'], rows: [[1]] }, { columns: ['b', 'c'], rows: [['x', 2]] }, { columns: ['d'], rows: [] }, { columns: ['e'], rows: [[4]] }], 'sets');
  }),
  'a million rows': () => connected((connection) => new Promise((resolve, reject) => {
    let count = 0;
    let total = 0;
    const request = new Request('SELECT CAST(value AS int) AS value FROM GENERATE_SERIES(1, 1000000)', (error) => {
      if (error) reject(error);
      else if (count !== 1000000 || total !== 500000500000) reject(new Error(`${count} rows, sum ${total}`));
      else resolve();
    });
    request.on('row', ([column]) => { count += 1; total += column.value; });
    connection.execSqlBatch(request);
  })),
  'row counts': () => connected(async (connection) => {
    await batch(connection, 'DROP TABLE IF EXISTS dbo.node_c; CREATE TABLE dbo.node_c (a int)');
    equal((await ask(connection, 'INSERT dbo.node_c SELECT value FROM GENERATE_SERIES(1, 10)')).count, 10, 'inserted');
    equal((await ask(connection, 'UPDATE dbo.node_c SET a = 0 WHERE a > 5')).count, 5, 'updated');
  }),
  'bulk insert': () => connected(async (connection) => {
    await batch(connection, 'DROP TABLE IF EXISTS dbo.node_b; CREATE TABLE dbo.node_b (a int NOT NULL, b nvarchar(40) NULL, c float NULL)');
    const count = await new Promise((resolve, reject) => {
      const load = connection.newBulkLoad('dbo.node_b', (error, rows) => (error ? reject(error) : resolve(rows)));
      load.addColumn('a', TYPES.Int, { nullable: false });
      load.addColumn('b', TYPES.NVarChar, { length: 40, nullable: true });
      load.addColumn('c', TYPES.Float, { nullable: true });
      connection.execBulkLoad(load, Array.from({ length: 10000 }, (_item, i) => [i, `text ${i}`, i % 2 ? null : i / 2]));
    });
    equal(count, 10000, 'rows told');
    equal((await batch(connection, 'SELECT COUNT(*), SUM(a), COUNT(c) FROM dbo.node_b')).rows, [[10000, 49995000, 5000]], 'rows');
  }),
  cancel: () => connected(async (connection) => {
    const began = Date.now();
    await fails(() => ask(connection, "WAITFOR DELAY '00:00:20'", { how: 'execSqlBatch', onRequest: () => setTimeout(() => connection.cancel(), 300) }));
    if (Date.now() - began > 8000) throw new Error('it was not cancelled');
    equal((await batch(connection, 'SELECT 1')).rows, [[1]], 'afterwards');
  }),
  'time out': () => connected(async (connection) => {
    const began = Date.now();
    await fails(() => batch(connection, "WAITFOR DELAY '00:00:20'"));
    if (Date.now() - began > 8000) throw new Error('no time-out');
    equal((await batch(connection, 'SELECT 1')).rows, [[1]], 'afterwards');
  }, { requestTimeout: 500 }),
  'reset of a pooled connection': () => connected(async (connection) => {
    await batch(connection, 'SET NOCOUNT ON; BEGIN TRANSACTION');
    await new Promise((resolve, reject) => connection.reset((error) => (error ? reject(error) : resolve())));
    equal((await batch(connection, 'SELECT @@TRANCOUNT')).rows, [[0]], 'transactions');
  }),
  reconnect: async () => {
    for (let turn = 0; turn < 30; turn += 1) {
      await connected(async (connection) => equal((await batch(connection, 'SELECT 1')).rows, [[1]], 'answer'));
    }
  },
  'two hundred connections': async () => {
    await Promise.all(Array.from({ length: 200 }, (_item, number) => connected(async (connection) => {
      for (let turn = 0; turn < 5; turn += 1) {
        const { rows } = await ask(connection, 'SELECT @a + @b', { parameters: [['a', TYPES.Int, number], ['b', TYPES.Int, turn]] });
        equal(rows, [[number + turn]], 'answer');
      }
    })));
  },
};

for (const [name, work] of Object.entries(features)) {
  if (process.argv.length > 2 && !process.argv.slice(2).includes(name)) continue;
  try {
    const reason = await work();
    console.log([name, typeof reason === 'string' ? 'not' : 'ok', typeof reason === 'string' ? reason : ''].join('\t'));
  } catch (error) {
    console.log([name, 'failed', `${error}${error.number ? ` (${error.number})` : ''}`.replaceAll('\n', ' ').slice(0, 300)].join('\t'));
    if (env.PIKEPOLE_TRACE) console.error(error);
  }
}
process.exit(0);
