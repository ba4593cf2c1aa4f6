//! Tables of numbers as Parquet files; with the feature `parquet`.

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::ExportError;
use super::atomic::{Written, write_atomically};
use crate::recording::{NumberTable, Recording};
use crate::trajectory::{COLUMNS, lines};

/// A column: its name and what stands in it.
enum Column<'a> {
    Numbers(&'a str, Vec<f64>),
    Texts(&'a str, Vec<ByteArray>),
}

/// Writes a table of numbers, of joints or of probes: a row per recorded instant, `time_s` and the
/// columns as numbers of eight bytes. Complete or absent, and the same bytes for the same table.
///
/// # Errors
/// [`ExportError::Io`] if the file cannot be written.
pub fn write_numbers_parquet(path: &Path, table: &NumberTable) -> Result<Written, ExportError> {
    let names = ["time_s"]
        .into_iter()
        .chain(table.columns.iter().map(String::as_str));
    let of = |k: usize| {
        let cells = table.lines.iter().map(|line| line.get(k).copied());
        cells.map(|cell| cell.unwrap_or(f64::NAN)).collect()
    };
    let columns = names.enumerate().map(|(k, name)| Column::Numbers(name, of(k)));
    write(path, &columns.collect::<Vec<_>>())
}

/// Writes the way of all bodies, with the columns of [`COLUMNS`].
///
/// # Errors
/// As [`write_numbers_parquet`].
pub fn write_trajectory_parquet(path: &Path, recording: &Recording) -> Result<Written, ExportError> {
    let all: Vec<_> = lines(recording).collect();
    let names = all
        .iter()
        .map(|(_, name, _)| ByteArray::from(name.as_bytes().to_vec()));
    let mut columns = vec![
        Column::Numbers(COLUMNS[0], all.iter().map(|(time, ..)| *time).collect()),
        Column::Texts(COLUMNS[1], names.collect()),
    ];
    for (k, name) in COLUMNS[2..].iter().enumerate() {
        columns.push(Column::Numbers(
            name,
            all.iter().map(|(.., numbers)| numbers[k]).collect(),
        ));
    }
    write(path, &columns)
}

fn write(path: &Path, columns: &[Column<'_>]) -> Result<Written, ExportError> {
    let bytes = encode(columns).map_err(|error| ExportError::io(path, io::Error::other(error)))?;
    write_atomically(path, |out| out.write_all(&bytes))
}

fn encode(columns: &[Column<'_>]) -> Result<Vec<u8>, ParquetError> {
    let field = |column: &Column<'_>| {
        let (name, physical, logical) = match column {
            Column::Numbers(name, _) => (name, Physical::DOUBLE, None),
            Column::Texts(name, _) => (name, Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let built = Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(logical)
            .build();
        built.map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    let schema = Type::group_type_builder("table").with_fields(fields).build()?;
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), properties)?;
    let mut group = writer.next_row_group()?;
    for column in columns {
        match column {
            Column::Numbers(_, values) => put::<DoubleType>(&mut group, values)?,
            Column::Texts(_, values) => put::<ByteArrayType>(&mut group, values)?,
        }
    }
    group.close()?;
    writer.into_inner()
}

fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
) -> Result<(), ParquetError> {
    let missing = || ParquetError::General("a column more than the schema has".to_owned());
    let mut column = group.next_column()?.ok_or_else(missing)?;
    column.typed::<T>().write_batch(values, None, None)?;
    column.close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    /// Read back row by row, the numbers are those of the table to the bit.
    #[test]
    fn parquet_has_the_numbers_of_the_table() {
        let table = NumberTable {
            columns: vec!["arm.angle_rad".to_owned(), "a, \"b\"_N".to_owned()],
            lines: vec![vec![0.0, 0.1, f64::NAN], vec![0.5, -1e-300, 2.0]],
        };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("probes.parquet");
        write_numbers_parquet(&path, &table).unwrap();
        let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 2);
        let names = ["time_s", "arm.angle_rad", "a, \"b\"_N"];
        for (row, line) in rows.iter().zip(&table.lines) {
            for ((name, field), (expected, number)) in row.get_column_iter().zip(names.iter().zip(line)) {
                assert_eq!(name, expected);
                let Field::Double(found) = field else {
                    panic!("{field:?}")
                };
                assert_eq!(found.to_bits(), number.to_bits());
            }
        }
    }
}
