//! Tables as Parquet files: one row group, columns of one type each, all of them optional.

use crate::SweepError;
use crate::quantities::Cell;
use crate::table::Table;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use pliant_output::ExportError;
use pliant_output::atomic::write_atomically;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The type of a column: the narrowest that holds all of its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Truth,
    Count,
    Number,
    Text,
}

impl Kind {
    /// The type of a column of a table; of one without any cell that of numbers.
    fn of(table: &Table, column: usize) -> Self {
        let cells = table.rows.iter().filter_map(|row| row.get(column));
        let kinds = cells.filter_map(|cell| match cell {
            Cell::Missing => None,
            Cell::Truth(_) => Some(Self::Truth),
            Cell::Count(_) => Some(Self::Count),
            Cell::Number(_) => Some(Self::Number),
            Cell::Text(_) => Some(Self::Text),
        });
        let both = |a, b| match (a, b) {
            (a, b) if a == b => a,
            (Self::Count, Self::Number) | (Self::Number, Self::Count) => Self::Number,
            _ => Self::Text,
        };
        kinds.reduce(both).unwrap_or(Self::Number)
    }

    fn schema(self, name: &str) -> Result<TypePtr, ParquetError> {
        let (physical, logical) = match self {
            Self::Truth => (Physical::BOOLEAN, None),
            Self::Count => (Physical::INT64, None),
            Self::Number => (Physical::DOUBLE, None),
            Self::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let column = Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()?;
        Ok(Arc::new(column))
    }
}

/// Writes a table as a Parquet file: complete or absent, and the same bytes for the same table.
///
/// # Errors
/// [`SweepError::Write`].
pub(crate) fn write_parquet(table: &Table, path: &Path) -> Result<(), SweepError> {
    let bytes = encode(table).map_err(|error| ExportError::io(path, io::Error::other(error)))?;
    write_atomically(path, |out| out.write_all(&bytes))?;
    Ok(())
}

fn encode(table: &Table) -> Result<Vec<u8>, ParquetError> {
    let kinds: Vec<Kind> = (0..table.columns.len()).map(|k| Kind::of(table, k)).collect();
    let fields = table
        .columns
        .iter()
        .zip(&kinds)
        .map(|(name, kind)| kind.schema(name));
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    let schema = Type::group_type_builder("sweep").with_fields(fields).build()?;
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), properties)?;
    let mut group = writer.next_row_group()?;
    for (column, kind) in kinds.iter().enumerate() {
        let cells = || {
            table
                .rows
                .iter()
                .map(|row| row.get(column).unwrap_or(&Cell::Missing))
        };
        match kind {
            Kind::Truth => write::<BoolType>(&mut group, cells().map(truth))?,
            Kind::Count => write::<Int64Type>(&mut group, cells().map(count))?,
            Kind::Number => write::<DoubleType>(&mut group, cells().map(number))?,
            Kind::Text => write::<ByteArrayType>(&mut group, cells().map(text))?,
        }
    }
    group.close()?;
    writer.into_inner()
}

fn truth(cell: &Cell) -> Option<bool> {
    match cell {
        Cell::Truth(truth) => Some(*truth),
        _ => None,
    }
}

fn count(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Count(count) => Some(*count),
        _ => None,
    }
}

fn number(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Number(number) => Some(*number),
        Cell::Count(count) => Some(*count as f64),
        _ => None,
    }
}

fn text(cell: &Cell) -> Option<ByteArray> {
    let text = match cell {
        Cell::Missing => return None,
        Cell::Text(text) => text.clone(),
        Cell::Truth(truth) => truth.to_string(),
        Cell::Count(count) => count.to_string(),
        Cell::Number(number) => format!("{number:?}"),
    };
    Some(text.into_bytes().into())
}

/// Writes the next column of a group, of cells that may be missing.
fn write<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    cells: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for cell in cells {
        levels.push(i16::from(cell.is_some()));
        values.extend(cell);
    }
    let missing = || ParquetError::General("a column more than the schema has".to_owned());
    let mut column = group.next_column()?.ok_or_else(missing)?;
    column.typed::<T>().write_batch(&values, Some(&levels), None)?;
    column.close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    /// A table comes back by the reader of the library, with types and missing cells.
    #[test]
    fn tables_come_back() {
        let text = |text: &str| Cell::Text(text.to_owned());
        let table = Table {
            columns: ["job", "a.b", "n", "x", "mixed", "none"]
                .map(str::to_owned)
                .to_vec(),
            rows: vec![
                vec![
                    text("0001"),
                    Cell::Truth(true),
                    Cell::Count(3),
                    Cell::Number(0.1),
                    Cell::Count(7),
                    Cell::Missing,
                ],
                vec![
                    text("0002"),
                    Cell::Missing,
                    Cell::Count(-1),
                    Cell::Count(2),
                    text("ä, \"b\""),
                    Cell::Missing,
                ],
            ],
        };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.parquet");
        write_parquet(&table, &path).unwrap();
        assert_eq!(encode(&table).unwrap(), std::fs::read(&path).unwrap());
        let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
        let rows: Vec<Vec<(String, Field)>> = reader
            .get_row_iter(None)
            .unwrap()
            .map(|row| {
                row.unwrap()
                    .get_column_iter()
                    .map(|(n, f)| (n.clone(), f.clone()))
                    .collect()
            })
            .collect();
        let names: Vec<&str> = rows[0].iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["job", "a.b", "n", "x", "mixed", "none"]);
        let fields = |row: usize| {
            rows[row]
                .iter()
                .map(|(_, field)| field.clone())
                .collect::<Vec<_>>()
        };
        let word = |text: &str| Field::Str(text.to_owned());
        assert_eq!(
            fields(0),
            [
                word("0001"),
                Field::Bool(true),
                Field::Long(3),
                Field::Double(0.1),
                word("7"),
                Field::Null
            ]
        );
        assert_eq!(
            fields(1),
            [
                word("0002"),
                Field::Null,
                Field::Long(-1),
                Field::Double(2.0),
                word("ä, \"b\""),
                Field::Null
            ]
        );
    }

    #[test]
    fn empty_tables_are_files() {
        let table = Table {
            columns: vec!["job".to_owned()],
            rows: Vec::new(),
        };
        let bytes = encode(&table).unwrap();
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    }
}
