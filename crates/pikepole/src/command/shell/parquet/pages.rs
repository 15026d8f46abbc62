//! The pages of a column, decompressed and looked at before they are decoded.
//!
//! The decoders believe what a page says of itself: a dictionary of two billion values is allocated, levels that end behind the
//! page are a panic. So each page is read as if it were not compressed, decompressed here within a budget, and refused when what it
//! says does not fit its bytes.

use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;
use pikepole_contention::sync::atomic::{AtomicUsize, Ordering};
use std::io::Read;
use std::sync::Arc;

/// Bytes of decompressed pages that the columns of a row group have at a time.
const PAGES_BYTES_MAX: usize = 1 << 30;

/// Bytes of decompressed pages, of all columns that are read together.
#[derive(Clone, Default)]
pub struct Budget(Arc<AtomicUsize>);

/// The compression of a column's pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Codec {
    None,
    Snappy,
    Gzip,
    Zstd,
}

impl Codec {
    fn of(compression: Compression) -> Result<Codec> {
        match compression {
            Compression::UNCOMPRESSED => Ok(Codec::None),
            Compression::SNAPPY => Ok(Codec::Snappy),
            Compression::GZIP(_) => Ok(Codec::Gzip),
            Compression::ZSTD(_) => Ok(Codec::Zstd),
            Compression::BROTLI(_) => Err(wrong("it is compressed with Brotli, which is not read")),
            Compression::LZ4 | Compression::LZ4_RAW => Err(wrong("it is compressed with LZ4, which is not read")),
            Compression::LZO => Err(wrong("it is compressed with LZO, which is not read")),
        }
    }

    /// Appends what compressed bytes stand for, if it is not longer than `bytes_max`.
    fn decompress(self, bytes: &[u8], bytes_max: usize, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        match self {
            Codec::None => out.extend_from_slice(bytes),
            Codec::Snappy => {
                let length = snap::raw::decompress_len(bytes).map_err(|error| wrong(&error.to_string()))?;
                check_length(length, bytes_max)?;
                out.resize(start + length, 0);
                let written = snap::raw::Decoder::new().decompress(bytes, &mut out[start..]);
                written.map_err(|error| wrong(&error.to_string()))?;
            }
            Codec::Gzip => take_all(flate2::read::MultiGzDecoder::new(bytes), bytes_max, out)?,
            Codec::Zstd => {
                let mut rest = bytes;
                while !rest.is_empty() {
                    let frame = ruzstd::decoding::StreamingDecoder::new(&mut rest);
                    let frame = frame.map_err(|error| wrong(&error.to_string()))?;
                    take_all(frame, bytes_max - (out.len() - start), out)?;
                }
            }
        }
        Ok(())
    }
}

/// Appends all that a decoder gives, if it is not longer than `bytes_max`.
fn take_all(decoder: impl Read, bytes_max: usize, out: &mut Vec<u8>) -> Result<()> {
    let read = decoder.take(bytes_max as u64 + 1).read_to_end(out).map_err(|error| wrong(&error.to_string()))?;
    check_length(read, bytes_max)
}

fn check_length(length: usize, bytes_max: usize) -> Result<()> {
    if length > bytes_max { Err(wrong("a page is too large")) } else { Ok(()) }
}

fn wrong(text: &str) -> ParquetError {
    ParquetError::External(text.into())
}

/// The pages of a column in a row group.
pub struct Pages<R: ChunkReader> {
    /// Reads them as they are in the file.
    compressed: SerializedPageReader<R>,
    codec: Codec,
    ty: Type,
    /// Bytes that each value of a dictionary has at least.
    value_bytes_min: usize,
    /// True if it has NULL, which is in the levels of its pages.
    has_levels: bool,
    has_dictionary: bool,
    budget: Budget,
    /// Bytes of the dictionary, and of the page that was read last.
    dictionary_bytes: usize,
    page_bytes: usize,
}

impl<R: ChunkReader> Pages<R> {
    /// Opens a column of a row group.
    pub fn open(file: &Arc<R>, chunk: &ColumnChunkMetaData, rows: usize, budget: Budget) -> Result<Pages<R>> {
        let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
        let place = (u64::try_from(start), u64::try_from(chunk.compressed_size()));
        let is_within = match place {
            (Ok(start), Ok(length)) => start.checked_add(length).is_some_and(|end| end <= file.len()),
            _ => false,
        };
        if !is_within {
            return Err(wrong("it is not within the file"));
        }
        if chunk.file_path().is_some_and(|path| !path.is_empty()) {
            return Err(wrong("it is in another file"));
        }
        let codec = Codec::of(chunk.compression())?;
        let chunk = chunk.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
        let ty = chunk.column_type();
        let value_bytes_min = match ty {
            Type::BOOLEAN => 1,
            Type::INT32 | Type::FLOAT | Type::BYTE_ARRAY => 4,
            Type::INT64 | Type::DOUBLE => 8,
            Type::INT96 => 12,
            Type::FIXED_LEN_BYTE_ARRAY => usize::try_from(chunk.column_descr().type_length()).unwrap_or(0).max(1),
        };
        let compressed = SerializedPageReader::new(Arc::clone(file), &chunk, rows, None)?;
        Ok(Pages {
            compressed,
            codec,
            ty,
            value_bytes_min,
            has_levels: chunk.column_descr().max_def_level() > 0,
            has_dictionary: false,
            budget,
            dictionary_bytes: 0,
            page_bytes: 0,
        })
    }

    /// Decompresses what is behind the first `plain` bytes of a page.
    fn decompressed(&mut self, bytes: &[u8], plain: usize, is_dictionary: bool) -> Result<Vec<u8>> {
        let (plain, packed) =
            bytes.split_at_checked(plain).ok_or_else(|| wrong("its levels are longer than the page"))?;
        if !is_dictionary {
            self.give_back(self.page_bytes);
            self.page_bytes = 0;
        }
        let used = self.budget.0.load(Ordering::Relaxed);
        let bytes_max = PAGES_BYTES_MAX.saturating_sub(used + plain.len());
        let mut out = plain.to_vec();
        // Nothing stands for nothing, in all codecs: so a page is that has NULL alone.
        if !packed.is_empty() {
            self.codec.decompress(packed, bytes_max, &mut out)?;
        }
        self.budget.0.fetch_add(out.len(), Ordering::Relaxed);
        match is_dictionary {
            true => self.dictionary_bytes += out.len(),
            false => self.page_bytes = out.len(),
        }
        Ok(out)
    }

    fn give_back(&self, bytes: usize) {
        self.budget.0.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Refuses pages whose values the decoders cannot look for.
    fn check_encoding(&self, encoding: Encoding) -> Result<()> {
        match encoding {
            Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY if !self.has_dictionary => {
                Err(wrong("a page needs a dictionary that is not there"))
            }
            _ => Ok(()),
        }
    }

    fn opened(&mut self, page: Page) -> Result<Page> {
        match page {
            Page::DictionaryPage { buf, num_values, encoding, is_sorted } => {
                let bytes = self.decompressed(&buf, 0, true)?;
                let fits = num_values as usize <= bytes.len() / self.value_bytes_min;
                if self.has_dictionary || self.ty == Type::BOOLEAN || !fits {
                    return Err(wrong("its dictionary does not fit"));
                }
                self.has_dictionary = true;
                Ok(Page::DictionaryPage { buf: bytes.into(), num_values, encoding, is_sorted })
            }
            Page::DataPage { buf, num_values, encoding, def_level_encoding, rep_level_encoding, statistics } => {
                self.check_encoding(encoding)?;
                let bytes = self.decompressed(&buf, 0, false)?;
                // Levels that are no runs have a bit each, and say nothing of their length.
                let has_bits = self.has_levels && def_level_encoding != Encoding::RLE;
                if has_bits && bytes.len() < (num_values as usize).div_ceil(8) {
                    return Err(wrong("its levels are longer than the page"));
                }
                let buf = bytes.into();
                Ok(Page::DataPage { buf, num_values, encoding, def_level_encoding, rep_level_encoding, statistics })
            }
            Page::DataPageV2 {
                buf,
                num_values,
                encoding,
                num_nulls,
                num_rows,
                def_levels_byte_len,
                rep_levels_byte_len,
                is_compressed,
                statistics,
            } => {
                self.check_encoding(encoding)?;
                let levels = def_levels_byte_len.checked_add(rep_levels_byte_len);
                let levels = levels.ok_or_else(|| wrong("its levels are longer than the page"))? as usize;
                let plain = if is_compressed { levels } else { buf.len().max(levels) };
                let buf = self.decompressed(&buf, plain, false)?.into();
                Ok(Page::DataPageV2 {
                    buf,
                    num_values,
                    encoding,
                    num_nulls,
                    num_rows,
                    def_levels_byte_len,
                    rep_levels_byte_len,
                    is_compressed: false,
                    statistics,
                })
            }
        }
    }
}

impl<R: ChunkReader> Drop for Pages<R> {
    fn drop(&mut self) {
        self.give_back(self.dictionary_bytes + self.page_bytes);
    }
}

impl<R: ChunkReader> Iterator for Pages<R> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

impl<R: ChunkReader> PageReader for Pages<R> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        match self.compressed.get_next_page()? {
            Some(page) => self.opened(page).map(Some),
            None => Ok(None),
        }
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        Err(wrong("pages are read in order"))
    }

    fn skip_next_page(&mut self) -> Result<()> {
        Err(wrong("pages are read in order"))
    }

    /// Columns that are not repeated have a value for each row.
    fn at_record_boundary(&mut self) -> Result<bool> {
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// 300 bytes of zeros as Zstandard has them: a frame of one block that says how often its byte is there.
    const ZEROS: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd, 0x60, 0x2c, 0x00, 0x63, 0x09, 0x00, 0x00];

    fn decompressed(codec: Codec, bytes: &[u8], bytes_max: usize) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        codec.decompress(bytes, bytes_max, &mut out)?;
        Ok(out)
    }

    #[test]
    fn pages_are_decompressed_up_to_a_length() {
        let zeros = vec![0; 300];
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(&zeros).expect("written");
        let gzip = gzip.finish().expect("written");
        let snappy = snap::raw::Encoder::new().compress_vec(&zeros).expect("compressed");
        for (codec, bytes) in [(Codec::Gzip, gzip.as_slice()), (Codec::Snappy, &snappy), (Codec::Zstd, ZEROS)] {
            assert_eq!(decompressed(codec, bytes, 300).expect("sound"), zeros, "{codec:?}");
            assert!(decompressed(codec, bytes, 299).is_err(), "{codec:?}");
            assert!(decompressed(codec, &bytes[..bytes.len() - 1], 300).is_err(), "{codec:?}");
        }
        let twice = [ZEROS, ZEROS].concat();
        assert_eq!(decompressed(Codec::Zstd, &twice, 600).expect("sound"), vec![0; 600]);
    }

    #[test]
    fn a_codec_that_is_not_read_is_named() {
        let error = Codec::of(Compression::LZ4_RAW).expect_err("refused").to_string();
        assert!(error.contains("LZ4, which is not read"), "{error}");
    }
}
