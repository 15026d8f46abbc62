//! BACKUP and RESTORE among the databases of a server: who may, in what state a database is meanwhile, and what it becomes.
//!
//! ```text
//!   ONLINE --RESTORE ... NORECOVERY, BACKUP LOG ... NORECOVERY--> RESTORING --RESTORE ... RECOVERY--> ONLINE
//!     ^  \--RESTORE begins--> RESTORING (busy) --it failed--> ONLINE, as it was
//! ```
//! A database that is restored over another one is made in a folder beside it. Its `database.toml` names the folder that it
//! replaces; whoever opens the server next removes that one, if a crash came first.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pikepole_contention::WaitType;
use pikepole_machine::{Disk, clock};
use pikepole_types::SqlError;

use super::{BACKUP_FOLDER, DATABASE_FILE, Entry, MASTER, Server, folder_name, lock, read, write};
use crate::backup::{
    BackupJob, BackupKind, BackupOptions, BackupOutcome, BackupSetRow, LogRestore, MadeBackup, MediaRow, PageRestore,
    RestoreOptions, SetHead, build_log, clear_staged, list_sets, media_row, verify,
};
use crate::database::{Database, DatabaseFile, RecoveryModel, Restoring};

/// Hears how many percent are done.
pub type Progress<'a> = &'a mut (dyn FnMut(u8) + Send);

/// A database in the middle of a restore.
pub(super) struct RestoringEntry {
    pub file: DatabaseFile,
    /// Its folder; none while the first backup of a new database is being restored.
    pub folder: Option<PathBuf>,
    /// What it was before the statement that is being run, and is again if that fails.
    former: Option<Box<Entry>>,
    /// A statement is at it.
    busy: bool,
}

impl RestoringEntry {
    /// As found in a folder.
    pub fn found(file: DatabaseFile, folder: PathBuf) -> RestoringEntry {
        RestoringEntry { file, folder: Some(folder), former: None, busy: false }
    }

    pub fn is_busy(&self) -> bool {
        self.busy
    }
}

/// Runs blocking work of a backup.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    pikepole_scheduler::wait(WaitType::BACKUPIO, pikepole_scheduler::run_blocking(work)).await
}

/// Takes the steps of a restore to its end, telling after each how far it is.
async fn step_through<R: Send + 'static>(
    mut restore: R,
    step: fn(&mut R) -> Result<Option<u8>, SqlError>,
    progress: Progress<'_>,
) -> Result<R, SqlError> {
    loop {
        let (returned, percent) = blocking(move || {
            let percent = step(&mut restore);
            (restore, percent)
        })
        .await;
        restore = returned;
        match percent? {
            Some(percent) => progress(percent),
            None => return Ok(restore),
        }
    }
}

/// The turn at a file that is written to.
struct DeviceTurn {
    server: Arc<Server>,
    path: PathBuf,
}

impl Drop for DeviceTurn {
    fn drop(&mut self) {
        lock(&self.server.devices).remove(&self.path);
    }
}

/// A database that a statement has taken for itself; given back as it was unless the statement says otherwise.
pub(super) struct Taken {
    server: Arc<Server>,
    key: String,
    done: bool,
}

impl Drop for Taken {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        let mut databases = write(&self.server.databases);
        if let Some(Entry::Restoring(mut entry)) = databases.remove(&self.key) {
            match entry.former.take() {
                Some(former) => drop(databases.insert(self.key.clone(), *former)),
                None if entry.folder.is_some() => {
                    entry.busy = false;
                    databases.insert(self.key.clone(), Entry::Restoring(entry));
                }
                None => {}
            }
        }
    }
}

impl Taken {
    /// The statement is done: this is what the database is now.
    pub(super) fn becomes(mut self, entry: Entry) {
        self.done = true;
        write(&self.server.databases).insert(self.key.clone(), entry);
    }

    /// The statement is done: there is no such database any more.
    pub(super) fn vanishes(mut self) {
        self.done = true;
        write(&self.server.databases).remove(&self.key);
    }
}

/// tempdb is made anew by each run of the server.
fn refuse_tempdb(name: &str) -> Result<(), SqlError> {
    if name.eq_ignore_ascii_case(crate::temporary::TEMPDB) {
        let text = "Backup and restore operations are not allowed on database tempdb.";
        return Err(SqlError::new(3147, 16, 1, text));
    }
    Ok(())
}

impl Server {
    async fn device(self: &Arc<Self>, name: &str) -> Result<crate::backup::Device, SqlError> {
        let (server, name) = (self.clone(), name.to_owned());
        blocking(move || server.statement_folders.backup(&name, server.context.store.direct)).await
    }

    /// The turn at a file that is to be written; what is thrown away needs none.
    fn device_turn(self: &Arc<Self>, device: &crate::backup::Device) -> Result<Option<DeviceTurn>, SqlError> {
        if device.discards {
            return Ok(None);
        }
        let path = device.path();
        if !lock(&self.devices).insert(path.clone()) {
            let why = "32(another backup is being written to the file)";
            return Err(SqlError::device_not_opened(&device.name, why));
        }
        Ok(Some(DeviceTurn { server: self.clone(), path }))
    }

    /// BACKUP: the database or its log into a set of a file, while work goes on.
    ///
    /// # Errors
    /// 911, 926, 927; 4208, 4214 for a log without a chain; 3023; 3201, 3202 and their like for the file; 3101 when the
    /// database is to be given up and sessions use it.
    pub async fn backup(
        self: &Arc<Self>,
        name: &str,
        options: BackupOptions,
        progress: Progress<'_>,
    ) -> Result<MadeBackup, SqlError> {
        refuse_tempdb(name)?;
        let database = self.database(name)?;
        let device = self.device(&options.device).await?;
        let _turn = self.device_turn(&device)?;
        if options.norecovery && options.kind == BackupKind::Log {
            return self.backup_tail(database, options, &device, progress).await;
        }
        self.run_backup(database, options, &device, progress).await
    }

    async fn run_backup(
        &self,
        database: Arc<Database>,
        options: BackupOptions,
        device: &crate::backup::Device,
        progress: Progress<'_>,
    ) -> Result<MadeBackup, SqlError> {
        let (device, set_id) = (device.clone(), self.draw_id());
        let mut job = blocking(move || BackupJob::begin(database, options, &device, set_id)).await?;
        while !job.is_copied() {
            let (returned, percent) = blocking(move || {
                let percent = job.step();
                (job, percent)
            })
            .await;
            job = returned;
            progress(percent?);
        }
        blocking(move || job.end()).await
    }

    /// BACKUP LOG ... WITH NORECOVERY: closes the database, backs up what is left of its log, and leaves it restoring.
    async fn backup_tail(
        self: &Arc<Self>,
        database: Arc<Database>,
        options: BackupOptions,
        device: &crate::backup::Device,
        progress: Progress<'_>,
    ) -> Result<MadeBackup, SqlError> {
        if database.name().eq_ignore_ascii_case(MASTER) {
            return Err(SqlError::restore_of_master());
        }
        if database.options().recovery == RecoveryModel::Simple {
            return Err(SqlError::log_backup_under_simple("BACKUP LOG"));
        }
        let taken = self.take(database.name())?;
        let folder = database.folder().to_path_buf();
        let backed_up = match database.close().await {
            Ok(()) => self.run_backup(database.clone(), options, device, progress).await,
            Err(error) => Err(error),
        };
        let file = database.database_file();
        drop(database);
        let outcome = match backed_up {
            Ok(outcome) => outcome,
            Err(error) => {
                self.reopen(taken, &folder, file).await;
                return Err(error);
            }
        };
        let restoring = Restoring {
            log_id: String::new(),
            restored_to: 0,
            restored_us: 0,
            files: Vec::new(),
            checkpoint: 0,
            redo: 0,
            recovery: 0,
            next_transaction: 0,
            pages: 0,
        };
        let file = DatabaseFile { restoring: Some(restoring), ..file };
        let (disk, written, at) = (self.options.disk.clone(), file.clone(), folder.clone());
        match blocking(move || written.write(&disk, &at)).await {
            Ok(()) => taken.becomes(Entry::Restoring(Box::new(RestoringEntry::found(file, folder)))),
            Err(error) => {
                self.reopen(taken, &folder, DatabaseFile { restoring: None, ..file }).await;
                return Err(SqlError::device_not_written(folder.display(), error));
            }
        }
        Ok(outcome)
    }

    /// A database that was closed for a statement which then failed is opened again.
    pub(super) async fn reopen(&self, taken: Taken, folder: &Path, file: DatabaseFile) {
        let entry = self.open_file(folder.to_path_buf(), file).await;
        taken.becomes(entry);
    }

    /// Opens a database that is whole.
    pub(super) async fn open_file(&self, folder: PathBuf, file: DatabaseFile) -> Entry {
        let context = self.context.clone();
        let (id, name, at) = (file.id, file.name.clone(), folder.clone());
        let opened = blocking(move || Database::open(&context, &at, file)).await;
        match opened {
            Ok(database) => {
                database.start();
                self.put_in_force(&lock(&self.configuration), &database);
                Entry::Online(database)
            }
            Err(why) => Entry::Suspect { id, name, folder, why },
        }
    }

    /// Takes a database, or the place for a new one, for a statement that restores it. Whoever uses its name meanwhile gets
    /// error 927.
    ///
    /// # Errors
    /// 3101 while sessions use it or another statement is at it; 3108 for master.
    pub(super) fn take(self: &Arc<Self>, name: &str) -> Result<Taken, SqlError> {
        let key = name.to_lowercase();
        if key == MASTER {
            return Err(SqlError::restore_of_master());
        }
        let mut databases = write(&self.databases);
        match databases.get(&key) {
            Some(Entry::Online(database)) if database.sessions() > 0 => {
                return Err(SqlError::exclusive_access_needed());
            }
            Some(Entry::Restoring(entry)) if entry.busy => return Err(SqlError::exclusive_access_needed()),
            _ => {}
        }
        let file = match databases.get(&key) {
            Some(Entry::Online(database)) => database.database_file(),
            Some(Entry::Restoring(entry)) => entry.file.clone(),
            Some(Entry::Offline { file, .. } | Entry::Unused { file, .. }) => DatabaseFile::clone(file),
            Some(Entry::Suspect { id, name, .. }) => DatabaseFile { id: *id, ..DatabaseFile::placeholder(name) },
            None => {
                let id = super::system_databases::id_of(name).unwrap_or_else(|| super::free_id(&databases));
                DatabaseFile { id, ..DatabaseFile::placeholder(name) }
            }
        };
        let former = databases.remove(&key).map(Box::new);
        let entry = RestoringEntry { file, folder: None, former, busy: true };
        databases.insert(key.clone(), Entry::Restoring(Box::new(entry)));
        Ok(Taken { server: self.clone(), key, done: false })
    }

    /// Takes the place of a new database.
    ///
    /// # Errors
    /// 1801 when there is one of the name.
    pub(super) fn take_new(self: &Arc<Self>, name: &str) -> Result<Taken, SqlError> {
        let key = name.to_lowercase();
        let mut databases = write(&self.databases);
        if databases.contains_key(&key) {
            return Err(SqlError::database_exists(name));
        }
        let file = DatabaseFile { id: super::free_id(&databases), ..DatabaseFile::placeholder(name) };
        let entry = RestoringEntry { file, folder: None, former: None, busy: true };
        databases.insert(key.clone(), Entry::Restoring(Box::new(entry)));
        Ok(Taken { server: self.clone(), key, done: false })
    }

    /// What a taken database was: its `database.toml` and its folder, if it was one.
    fn former(&self, taken: &Taken) -> (DatabaseFile, Option<Former>) {
        let databases = read(&self.databases);
        let Some(Entry::Restoring(entry)) = databases.get(&taken.key) else {
            return (DatabaseFile::placeholder(&taken.key), None);
        };
        let former = entry.former.as_deref().map(|former| match former {
            Entry::Online(database) => Former::Online(database.clone()),
            Entry::Suspect { folder, .. } | Entry::Offline { folder, .. } | Entry::Unused { folder, .. } => {
                Former::Suspect(folder.clone())
            }
            Entry::Restoring(restoring) => Former::Restoring(restoring.folder.clone().unwrap_or_default()),
        });
        (entry.file.clone(), former)
    }

    /// RESTORE DATABASE ... FROM.
    ///
    /// # Errors
    /// 3101, 3108, 3154, 3159; what the backup and the files end with. The database is as it was before then.
    pub async fn restore_database(
        self: &Arc<Self>,
        name: &str,
        options: RestoreOptions,
        progress: Progress<'_>,
    ) -> Result<BackupOutcome, SqlError> {
        refuse_tempdb(name)?;
        let begun_us = clock::now_us();
        let device = self.device(&options.device).await?;
        let taken = self.take(name)?;
        let (file, former) = self.former(&taken);
        let opened = options.clone();
        let restore = blocking(move || PageRestore::open(&device, &opened)).await?;
        may_replace(&file, former.as_ref(), restore.head(), &options)?;
        let folder = self.new_folder(&file.name);
        let made = self.restore_pages(restore, &folder, &file, &options, progress).await;
        let (file, mut outcome) = match made {
            Ok(made) => made,
            Err(error) => {
                self.remove_folder(&folder).await;
                return Err(error);
            }
        };
        let before = match &former {
            Some(Former::Online(database)) => Some((database.folder().to_path_buf(), database.database_file())),
            _ => None,
        };
        if let Err(error) = self.replace(former, &folder, &file).await {
            self.remove_folder(&folder).await;
            if let Some((folder, file)) = before {
                self.reopen(taken, &folder, file).await;
            }
            return Err(error);
        }
        let entry = match file.restoring {
            Some(_) => Entry::Restoring(Box::new(RestoringEntry::found(file, folder.clone()))),
            None => self.open_file(folder.clone(), file).await,
        };
        let failed = suspect_error(&entry);
        let is_online = matches!(entry, Entry::Online(_));
        taken.becomes(entry);
        failed.map_or(Ok(()), Err)?;
        if is_online {
            self.clear_staged(folder).await;
        }
        outcome.time_us = clock::now_us().saturating_sub(begun_us);
        Ok(outcome)
    }

    /// Restores the files of a database into a new folder, with a log if it is to be recovered.
    async fn restore_pages(
        &self,
        mut restore: PageRestore,
        folder: &Path,
        file: &DatabaseFile,
        options: &RestoreOptions,
        progress: Progress<'_>,
    ) -> Result<(DatabaseFile, BackupOutcome), SqlError> {
        let (disk, at, direct) = (self.options.disk.clone(), folder.to_path_buf(), self.context.store.direct);
        let restore = blocking(move || restore.begin(&disk, &at, direct).map(|()| restore)).await?;
        let restore = step_through(restore, PageRestore::step, progress).await?;
        let (name, id) = (file.name.clone(), file.id);
        let (mut file, outcome) = blocking(move || restore.finish(&name, id)).await?;
        if options.recovery && !outcome.before_the_stop_point {
            file = self.make_whole(folder, file).await?;
        }
        Ok((file, outcome))
    }

    /// Gives a restored database the log that its recovery reads, and the pages that came with it.
    async fn make_whole(&self, folder: &Path, file: DatabaseFile) -> Result<DatabaseFile, SqlError> {
        let Some(restoring) = file.restoring.clone() else { return Ok(file) };
        if !restoring.log_id.is_empty() {
            let (disk, at, log) = (self.options.disk.clone(), folder.to_path_buf(), self.context.log.clone());
            let direct = self.context.store.direct;
            blocking(move || build_log(&disk, &at, &log, direct, &restoring)).await?;
        }
        Ok(DatabaseFile { restoring: None, chain: None, ..file })
    }

    /// Makes the folder the database's, in place of what was it before.
    async fn replace(&self, former: Option<Former>, folder: &Path, file: &DatabaseFile) -> Result<(), SqlError> {
        let replaced = match former {
            Some(Former::Online(database)) => {
                // What it cannot write any more it need not: it goes away.
                let _ = database.close().await;
                Some(database.folder().to_path_buf())
            }
            Some(Former::Suspect(folder) | Former::Restoring(folder)) => Some(folder),
            None => None,
        };
        let replaces = replaced.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        let (disk, at, file) = (self.options.disk.clone(), folder.to_path_buf(), file.clone());
        let server_folder = self.options.folder.clone();
        let written = blocking(move || {
            disk.sync_dir(&server_folder)?;
            DatabaseFile { replaces: replaces.clone(), ..file.clone() }.write(&disk, &at)?;
            finish_replacement(&disk, &server_folder, &at, &DatabaseFile { replaces, ..file });
            Ok(())
        })
        .await;
        written.map_err(|error: std::io::Error| SqlError::device_not_written(folder.display(), error))
    }

    /// RESTORE LOG.
    ///
    /// # Errors
    /// 3117, 3118 when there is nothing to roll forward; 3101; 4305, 4326, 4330, 4335, 4341; what the backup and the
    /// files end
    /// with. The database is as it was before then.
    pub async fn restore_log(
        self: &Arc<Self>,
        name: &str,
        options: RestoreOptions,
        progress: Progress<'_>,
    ) -> Result<BackupOutcome, SqlError> {
        let begun_us = clock::now_us();
        let device = self.device(&options.device).await?;
        match read(&self.databases).get(&name.to_lowercase()) {
            Some(Entry::Restoring(_)) => {}
            Some(_) => return Err(SqlError::nothing_to_roll_forward()),
            None => return Err(SqlError::restore_needs_full_backup(name)),
        }
        let taken = self.take(name)?;
        let (file, former) = self.former(&taken);
        let Some(Former::Restoring(folder)) = former else { return Err(SqlError::nothing_to_roll_forward()) };
        let (disk, at, from) = (self.options.disk.clone(), folder.clone(), file.clone());
        let recovery = options.recovery;
        let begun = blocking(move || LogRestore::begin(&device, &options, &disk, &at, &from)).await;
        let restore = step_through(begun?, LogRestore::step, progress).await?;
        let (restoring, mut outcome) = blocking(move || restore.finish()).await?;
        let file = DatabaseFile { restoring: Some(restoring), ..file };
        self.write_file(&folder, &file).await?;
        let entry = Entry::Restoring(Box::new(RestoringEntry::found(file, folder)));
        let name = name.to_owned();
        taken.becomes(entry);
        if recovery && !outcome.before_the_stop_point {
            self.recover_database(&name).await?;
        }
        outcome.time_us = clock::now_us().saturating_sub(begun_us);
        Ok(outcome)
    }

    async fn write_file(&self, folder: &Path, file: &DatabaseFile) -> Result<(), SqlError> {
        let (disk, at, file) = (self.options.disk.clone(), folder.to_path_buf(), file.clone());
        let written = blocking(move || file.write(&disk, &at)).await;
        written.map_err(|error| SqlError::device_not_written(folder.display(), error))
    }

    /// RESTORE DATABASE ... WITH RECOVERY, without a backup: what is restored so far is the database.
    ///
    /// # Errors
    /// 911; 3153 when it is in use already; 3101; 3202 when its log cannot be made: then it is left restoring; 3167 when it
    /// cannot be opened.
    pub async fn recover_database(self: &Arc<Self>, name: &str) -> Result<BackupOutcome, SqlError> {
        let begun_us = clock::now_us();
        match read(&self.databases).get(&name.to_lowercase()) {
            Some(Entry::Restoring(_)) => {}
            Some(_) => return Err(SqlError::already_recovered()),
            None => return Err(SqlError::database_unknown(name)),
        }
        let taken = self.take(name)?;
        let (file, former) = self.former(&taken);
        let Some(Former::Restoring(folder)) = former else { return Err(SqlError::already_recovered()) };
        let file = self.make_whole(&folder, file).await?;
        self.write_file(&folder, &file).await?;
        let entry = self.open_file(folder.clone(), file).await;
        let failed = suspect_error(&entry);
        taken.becomes(entry);
        failed.map_or(Ok(()), Err)?;
        self.clear_staged(folder).await;
        Ok(BackupOutcome { time_us: clock::now_us().saturating_sub(begun_us), ..BackupOutcome::default() })
    }

    async fn clear_staged(&self, folder: PathBuf) {
        let disk = self.options.disk.clone();
        blocking(move || clear_staged(&disk, &folder)).await;
    }

    /// RESTORE VERIFYONLY: reads the whole set and checks every byte of it.
    ///
    /// # Errors
    /// What is wrong.
    pub async fn verify_backup(self: &Arc<Self>, device: &str, position: usize) -> Result<(), SqlError> {
        let device = self.device(device).await?;
        blocking(move || verify(&device, position)).await
    }

    /// RESTORE HEADERONLY: the sets of a file.
    ///
    /// # Errors
    /// 3201, 3241 and their like.
    pub async fn list_backups(self: &Arc<Self>, device: &str) -> Result<Vec<BackupSetRow>, SqlError> {
        let device = self.device(device).await?;
        blocking(move || list_sets(&device)).await
    }

    /// RESTORE LABELONLY: the file.
    ///
    /// # Errors
    /// 3201, 3241 and their like.
    pub async fn backup_media(self: &Arc<Self>, device: &str) -> Result<MediaRow, SqlError> {
        let device = self.device(device).await?;
        blocking(move || media_row(&device)).await
    }

    /// A number for a backup set that no other one has.
    fn draw_id(&self) -> u64 {
        use pikepole_contention::sync::atomic::Ordering;
        // Odd multiplier: times and counts that lie close end far from each other.
        let count = self.ids_drawn.fetch_add(1, Ordering::Relaxed);
        let time = clock::unix_time_us().unsigned_abs();
        (time ^ count.rotate_left(20) ^ u64::from(std::process::id()).rotate_left(40))
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    /// A folder for a database of this name that none is in.
    pub(super) fn new_folder(&self, name: &str) -> PathBuf {
        let (disk, folder) = (&self.options.disk, &self.options.folder);
        let plain = folder_name(name);
        let names = (1..).map(|n| if n == 1 { plain.clone() } else { format!("{plain}~{n}") });
        let mut folders = names.map(|name| folder.join(name));
        folders
            .find(|at| !at.ends_with(BACKUP_FOLDER) && !disk.exists(at))
            .expect("there are fewer folders than numbers")
    }

    async fn remove_folder(&self, folder: &Path) {
        let (disk, folder) = (self.options.disk.clone(), folder.to_path_buf());
        // Without its database.toml it is no database; what stays takes room and does no harm.
        let _ = blocking(move || disk.remove_dir_all(folder)).await;
    }
}

/// What a taken database was.
enum Former {
    Online(Arc<Database>),
    Suspect(PathBuf),
    Restoring(PathBuf),
}

/// Whether a backup may be restored over what there is.
fn may_replace(
    file: &DatabaseFile,
    former: Option<&Former>,
    head: &SetHead,
    options: &RestoreOptions,
) -> Result<(), SqlError> {
    if options.replace {
        return Ok(());
    }
    match former {
        None => Ok(()),
        Some(Former::Suspect(_)) => Err(SqlError::other_database(&file.name)),
        Some(_) if file.family() != head.family => Err(SqlError::other_database(&file.name)),
        Some(Former::Online(_)) if file.chain.is_some() && options.stop_at_us.is_none() => {
            Err(SqlError::tail_not_backed_up(&file.name))
        }
        Some(_) => Ok(()),
    }
}

fn suspect_error(entry: &Entry) -> Option<SqlError> {
    let Entry::Suspect { name, why, .. } = entry else { return None };
    let mut error = SqlError::restored_but_not_started(name);
    error.message = format!("{} ({why})", error.message);
    Some(error)
}

/// Removes the folder that a database has replaced, and then the mention of it.
fn finish_replacement(disk: &Disk, server_folder: &Path, folder: &Path, file: &DatabaseFile) {
    let Some(replaced) = &file.replaces else { return };
    let former = server_folder.join(replaced);
    let is_folder = Path::new(replaced).components().count() == 1 && former != folder && disk.is_dir(&former);
    let removed = if is_folder {
        let named = former.join(DATABASE_FILE);
        let gone = if disk.exists(&named) { disk.remove_file(&named) } else { Ok(()) };
        gone.and_then(|()| disk.sync_dir(&former)).and_then(|()| disk.remove_dir_all(&former))
    } else {
        Ok(())
    };
    if removed.is_ok() && disk.sync_dir(server_folder).is_ok() {
        // If this fails, the next start does it.
        let _ = DatabaseFile { replaces: None, ..file.clone() }.write(disk, folder);
    }
}

/// At the start of a server: finishes what a crash interrupted at the end of a restore.
pub(super) fn finish_replacements(disk: &Disk, server_folder: &Path, names: &[String]) {
    for name in names {
        let folder = server_folder.join(name);
        if let Ok(file) = DatabaseFile::read(disk, &folder) {
            finish_replacement(disk, server_folder, &folder, &file);
            if file.restoring.is_none() {
                clear_staged(disk, &folder);
            }
        }
    }
}
