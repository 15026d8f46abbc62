-- Methods on a column of a collection of schemas: what is there once, and what is simple, stands in the schema.
CREATE XML SCHEMA COLLECTION dbo.orders AS '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:o"><xs:element name="order"><xs:complexType><xs:sequence>
<xs:element name="total" type="xs:decimal" form="qualified"/></xs:sequence></xs:complexType></xs:element></xs:schema>';
CREATE TABLE dbo.sale (id int NOT NULL PRIMARY KEY, body xml (dbo.orders), plain xml);
INSERT dbo.sale VALUES (1, '<o:order xmlns:o="urn:o"><o:total c="EUR">10.50</o:total></o:order>', '<order><total c="EUR">10.50</total></order>'), (2, NULL, NULL);
SELECT id, body.value('declare namespace o="urn:o"; /o:order/o:total', 'decimal(9,2)') AS total FROM dbo.sale ORDER BY id;
SELECT id, n.x.value('declare namespace o="urn:o"; o:total/@c', 'char(3)') AS currency FROM dbo.sale CROSS APPLY body.nodes('declare namespace o="urn:o"; /o:order') AS n (x);
UPDATE dbo.sale SET body.modify('declare namespace o="urn:o"; replace value of (/o:order/o:total)[1] with 12.75') WHERE id = 1;
UPDATE dbo.sale SET body.modify('declare default element namespace "urn:o"; replace value of (/order/total)[1] with data(/order/total)[1] + 1') WHERE id = 1;
SELECT id, body FROM dbo.sale ORDER BY id;
GO
-- Without one the forms must say so.
SELECT plain.value('/order/total', 'decimal(9,2)') AS total FROM dbo.sale;
GO
UPDATE dbo.sale SET plain.modify('replace value of (/order/total)[1] with 12.75');
GO
UPDATE dbo.sale SET plain.modify('replace value of (/order/total/text())[1] with 12.75') WHERE id = 1;
SELECT plain.value('(/order/total)[1]', 'decimal(9,2)') AS total FROM dbo.sale ORDER BY id;
DROP TABLE dbo.sale;
DROP XML SCHEMA COLLECTION dbo.orders;
