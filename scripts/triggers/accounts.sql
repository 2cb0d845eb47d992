-- Accounts: a member keeps the newest hundred sessions, the newest 500 failed logins, and the newest 5,000 other entries.

CREATE TRIGGER sessions_limited AFTER INSERT ON sessions
BEGIN
  DELETE FROM sessions
  WHERE memberId = NEW.memberId
    AND sessionId IN (SELECT sessionId FROM sessions WHERE memberId = NEW.memberId ORDER BY createdAt DESC LIMIT -1 OFFSET 100);
END;

CREATE TRIGGER activity_limited AFTER INSERT ON activity
BEGIN
  DELETE FROM activity
  WHERE memberId = NEW.memberId AND isFailedLogin = NEW.isFailedLogin AND entry <= NEW.entry - iif(NEW.isFailedLogin, 500, 5000);
END;
