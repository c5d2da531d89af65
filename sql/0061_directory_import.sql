-- serves: 1
--
-- A directory's people are imported, a connection is tried out, and a code by mail proves
-- whose an address is.


-- --- a code by mail for an identity that is not linked ---------------------------------------


-- --- the test of a connection ----------------------------------------------------------------


-- --- the import from the directory -----------------------------------------------------------


-- --- a directory's accounts ------------------------------------------------------------------


-- --- what was written twice ------------------------------------------------------------------
