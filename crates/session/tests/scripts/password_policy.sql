-- CHECK_POLICY, which a login has unless it says otherwise: eight characters, three kinds of them, and not the login's own name.
CREATE LOGIN anna WITH PASSWORD = 'Ab1!';
GO
CREATE LOGIN anna WITH PASSWORD = '';
GO
CREATE LOGIN anna WITH PASSWORD = 'abcdefgh';
GO
CREATE LOGIN anna WITH PASSWORD = 'abcdefg1';
GO
CREATE LOGIN anna WITH PASSWORD = 'ABCDEFG-';
GO
CREATE LOGIN anna WITH PASSWORD = 'With Anna 1';
GO
CREATE LOGIN al WITH PASSWORD = 'Always 12';
GO
CREATE LOGIN anna WITH PASSWORD = 'Deep Water';
CREATE LOGIN bert WITH PASSWORD = 'deep-water-7';
CREATE LOGIN carl WITH PASSWORD = 'x', CHECK_POLICY = OFF;
CREATE LOGIN dora WITH PASSWORD = 'Ünïcode7';
SELECT name, is_policy_checked, is_expiration_checked FROM sys.sql_logins WHERE name <> 'sa' ORDER BY name;
GO
ALTER LOGIN anna WITH PASSWORD = 'short';
GO
ALTER LOGIN anna WITH PASSWORD = 'My Anna 12';
GO
ALTER LOGIN anna WITH PASSWORD = 'x', CHECK_POLICY = OFF;
GO
ALTER LOGIN carl WITH PASSWORD = 'y';
ALTER LOGIN carl WITH CHECK_POLICY = ON;
GO
ALTER LOGIN carl WITH PASSWORD = 'z';
GO
-- Passwords do not expire here, and nothing says that they do.
CREATE LOGIN emil WITH PASSWORD = 'Deep Water 7', CHECK_EXPIRATION = ON;
GO
ALTER LOGIN bert WITH CHECK_EXPIRATION = ON;
GO
CREATE LOGIN emil WITH PASSWORD = 'Deep Water 7', CHECK_EXPIRATION = OFF;
GO
