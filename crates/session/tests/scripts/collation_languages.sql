-- Each language's order, case and accents.
CREATE TABLE #w (w nvarchar(20));
INSERT #w VALUES (N'z'), (N'å'), (N'a'), (N'ä'), (N'ö'), (N'o'), (N'æ'), (N'ø'), (N'aa'), (N'ab'), (N'ch'), (N'cz'), (N'd'), (N'ñ'), (N'nz'), (N'll'), (N'lz'), (N'ł'), (N'm'), (N'i'), (N'I'), (N'ı'), (N'İ'), (N'j');
SELECT STRING_AGG(w, ' ') WITHIN GROUP (ORDER BY w COLLATE Finnish_Swedish_CI_AS) AS swedish FROM #w;
SELECT STRING_AGG(w, ' ') WITHIN GROUP (ORDER BY w COLLATE Danish_Norwegian_CI_AS) AS danish FROM #w;
SELECT STRING_AGG(w, ' ') WITHIN GROUP (ORDER BY w COLLATE German_PhoneBook_CI_AS) AS german FROM #w;
SELECT STRING_AGG(w, ' ') WITHIN GROUP (ORDER BY w COLLATE Traditional_Spanish_CI_AS) AS spanish FROM #w;
SELECT STRING_AGG(w, ' ') WITHIN GROUP (ORDER BY w COLLATE Czech_100_CS_AS) AS czech FROM #w;
SELECT STRING_AGG(w, ' ') WITHIN GROUP (ORDER BY w COLLATE Turkish_CS_AS) AS turkish FROM #w;
SELECT COUNT(DISTINCT w COLLATE Turkish_CI_AS) AS turkish, COUNT(DISTINCT w COLLATE Danish_Norwegian_CI_AI) AS danish, COUNT(DISTINCT w COLLATE French_CI_AI) AS french, COUNT(DISTINCT w COLLATE Finnish_Swedish_CI_AI) AS swedish FROM #w;
SELECT w COLLATE Turkish_CI_AS AS w, COUNT(*) AS n FROM #w GROUP BY w COLLATE Turkish_CI_AS HAVING COUNT(*) > 1 ORDER BY w;
GO
SELECT UPPER(N'iı' COLLATE Turkish_CI_AS) AS up, LOWER(N'Iİ' COLLATE Turkish_CI_AS) AS low, UPPER(N'iı') AS up_else, IIF(N'TITLE' = N'title' COLLATE Turkish_CI_AS, 1, 0) AS title,
    IIF(N'TITLE' LIKE N't_tle' COLLATE Turkish_CI_AS, 1, 0) AS pattern, CHARINDEX(N'I', N'ii' COLLATE Turkish_CI_AS) AS missing, CHARINDEX(N'I', N'ıi' COLLATE Turkish_CI_AS) AS found,
    REPLACE(N'IİIi' COLLATE Turkish_CI_AS, N'ı', N'-') AS replaced;
SELECT IIF(N'ひらがな' = N'ヒラガナ' COLLATE Japanese_CI_AS, 1, 0) AS kana, IIF(N'ひらがな' = N'ヒラガナ' COLLATE Japanese_CI_AS_KS, 1, 0) AS kana_seen,
    IIF(N'ｶﾅ' = N'カナ' COLLATE Japanese_CS_AS, 1, 0) AS width, IIF(N'ｶﾅ' = N'カナ' COLLATE Japanese_CS_AS_WS, 1, 0) AS width_seen,
    IIF(N'ａｂｃ' LIKE N'A%' COLLATE Japanese_CI_AS, 1, 0) AS wide_pattern, CHARINDEX(N'な', N'カナ' COLLATE Japanese_CI_AS) AS at;
SELECT value FROM STRING_SPLIT(N'aßb', N'ß');
GO
CREATE TABLE dbo.zh (c nvarchar(5) COLLATE Chinese_PRC_CI_AS PRIMARY KEY);
INSERT dbo.zh VALUES (N'中'), (N'北'), (N'啊'), (N'上'), (N'广');
SELECT c FROM dbo.zh;
SELECT c FROM dbo.zh ORDER BY c COLLATE Chinese_PRC_Stroke_CI_AS;
SELECT c FROM dbo.zh WHERE c > N'北' AND c < N'中';
CREATE TABLE dbo.tr (w varchar(10) COLLATE Turkish_CI_AS CONSTRAINT uq UNIQUE);
INSERT dbo.tr VALUES (N'ısı'), (N'isi'), (N'Iı');
GO
INSERT dbo.tr VALUES (N'ISI');
GO
SELECT w FROM dbo.tr ORDER BY w DESC;
SELECT a.w, b.w AS other FROM dbo.tr AS a JOIN dbo.tr AS b ON LOWER(a.w) = UPPER(b.w) ORDER BY a.w;
SELECT w FROM dbo.tr WHERE w = N'İSİ';
GO
SELECT a.c FROM dbo.zh AS a JOIN dbo.tr AS b ON a.c = b.w;
GO
