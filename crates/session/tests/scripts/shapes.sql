-- geometry and geography: values, properties and methods.
DECLARE @g geometry = 'POLYGON((0 0, 4 0, 4 4, 0 4, 0 0))', @p geography = geography::Point(47.6, -122.3, 4326)
SELECT @g AS bytes, @g.ToString() AS text, @g.STAsText() AS plain, CAST(@g AS nvarchar(max)) AS wide, @g.STSrid AS srid, @g.STArea() AS area,
    @g.STLength() AS length, @g.STGeometryType() AS kind, @g.STNumPoints() AS points, @g.STIsValid() AS valid, DATALENGTH(@g) AS bytes
SELECT @p.Lat AS lat, @p.Long AS long, @p.STSrid AS srid, @p.Z AS z, @p.HasZ AS has_z, CAST(@p AS varbinary(max)) AS bytes
SELECT geometry::STGeomFromText('LINESTRING(0 0, 1 1, 2 0)', 4326).STPointN(2).STX AS x, geometry::Point(1, 2, 0).STY AS y,
    geometry::STPointFromText('POINT(1 2 3 4)', 0).M AS m, geometry::STGeomFromWKB(0x0101000000000000000000F03F0000000000000040, 0).STAsText() AS wkb,
    geometry::Parse('POINT(1 2 3)').AsTextZM() AS zm, geometry::Parse(NULL) AS nothing, geometry::[Null] AS none, @g.STStartPoint().STX AS start
SELECT CAST(0xE6100000010C0000000000000040000000000000F03F AS geography).ToString() AS of_bytes, TRY_CAST('POINT(1' AS geometry) AS none,
    (SELECT @g).STArea() AS of_query, @g.STIntersects('POINT(1 1)') AS meets, @g.STDistance('POINT(7 8)') AS away
SET @g.STSrid = 7
SELECT @g.STSrid AS srid, @g.STIntersects('POINT(1 1)') AS other_system
GO
-- Columns.
CREATE TABLE places (id int PRIMARY KEY, g geometry NOT NULL DEFAULT 'POINT(0 0)', e geography, area AS g.STArea(), CONSTRAINT small CHECK (g.STSrid < 100))
INSERT places (id, g) VALUES (1, 'POLYGON((0 0, 2 0, 2 2, 0 2, 0 0))'), (2, geometry::STGeomFromText('POLYGON((1 1, 3 1, 3 3, 1 3, 1 1))', 0))
INSERT places (id, e) VALUES (3, 'POINT(-122.34 47.65)')
SELECT id, g.ToString() AS g, places.e.Lat AS lat, area, g.STSrid FROM places ORDER BY id
SELECT a.id, b.id, a.g.STIntersection(b.g).STArea() AS common FROM places a JOIN places b ON a.id < b.id AND a.g.STOverlaps(b.g) = 1
SELECT id FROM places WHERE g.STIntersects(geometry::Parse('POINT(1.5 1.5)')) = 1 ORDER BY g.STArea(), id
SELECT g.STGeometryType() AS kind, COUNT(*) AS shapes, SUM(g.STArea()) AS area FROM places GROUP BY g.STGeometryType() ORDER BY kind
SELECT p.g.STSrid AS srid, COUNT(*) AS shapes FROM places p GROUP BY p.g.STSrid
UPDATE places SET g.STSrid = 5 WHERE id = 1
UPDATE p SET p.g.STSrid = 6 FROM places p WHERE p.id = 2
SELECT id, g.STSrid FROM places ORDER BY id
GO
UPDATE places SET g.STSrid = 500
GO
UPDATE places SET g.STX = 5
GO
UPDATE places SET e.STSrid = 4326
GO
SELECT id FROM places ORDER BY g
GO
SELECT COUNT(*) FROM places GROUP BY g
GO
SELECT DISTINCT g FROM places
GO
SELECT MAX(g) FROM places
GO
SELECT id FROM places WHERE g = g
GO
SELECT g FROM places UNION SELECT g FROM places
GO
CREATE INDEX by_shape ON places (g)
GO
CREATE SPATIAL INDEX by_shape ON places (g) WITH (BOUNDING_BOX = (0, 0, 10, 10))
GO
DROP TABLE places
GO
-- What the library refuses.
SELECT geometry::Parse('NONSENSE(1 2)')
GO
DECLARE @g geometry = 'LINESTRING(funky chicken)'
GO
SELECT geography::Parse('POINT(2 200)')
GO
SELECT geometry::STGeomFromText('POINT(1 2)', -5)
GO
SELECT geography::Point(NULL, 1, 4326)
GO
SELECT geometry::Parse('POLYGON((0 0, 2 2, 0 2, 2 0, 0 0))').STArea()
GO
SELECT geometry::Parse('LINESTRING(0 0, 1 1)').STPointN(0)
GO
SELECT CAST(0x0102 AS geometry)
GO
DECLARE @g geometry = 'POINT(1 2)'
SET @g.STSrid = NULL
GO
-- Members that there are not.
SELECT geometry::Parse('POINT(1 2)').Lat
GO
SELECT geometry::Parse('POINT(1 2)').STNumPoints
GO
SELECT geometry::Parse('POINT(1 2)').NumRings()
GO
SELECT geometry::STGeomFromText('POINT(1 2)')
GO
SELECT geometry::Parse('POINT(1 2)').AsGml()
GO
DECLARE @g geometry = 'POINT(1 2)'
SET @g.STX = 5
GO
DECLARE @g geometry
SET @g.STSrid = 5
GO
DECLARE @g geometry = 'POINT(1 2)'
SET @g.STArea()
GO
SELECT CAST(geography::Parse('POINT(1 2)') AS geometry)
GO
SELECT COALESCE(CAST(NULL AS geography), CAST(NULL AS geometry))
GO
-- Shapes from shapes.
DECLARE @a geometry = 'POLYGON((0 0, 4 0, 4 4, 0 4, 0 0))', @b geometry = 'LINESTRING(-1 2, 5 2)'
SELECT @a.STIntersection(@b).ToString(), @b.STDifference(@a).ToString(), @a.STContains('POINT(1 1)'), @b.STCrosses(@a), @a.STRelate(@b, '*********'),
    @a.STEnvelope().ToString(), @b.STBoundary().ToString(), @a.STCentroid().ToString(), @a.STBuffer(0).ToString(),
    geometry::Parse('POLYGON((0 0, 1 1, 1 0, 0 1, 0 0))').MakeValid().STIsValid()
SELECT ROUND(geography::Parse('POINT(-122.35 47.62)').STDistance('POINT(2.35 48.86)'), 0) AS metres,
    ROUND(geography::Parse('POLYGON((0 0, 1 0, 1 1, 0 1, 0 0))').STArea(), -3) AS square_metres
SELECT spatial_reference_id, authority_name, unit_of_measure FROM sys.spatial_reference_systems WHERE spatial_reference_id = 4326
GO
