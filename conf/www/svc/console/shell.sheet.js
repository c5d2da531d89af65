// What the frame of the console asks for, and the fields that find one of many.

export const operations = ["GET /v1/admin/console", "GET /v1/admin/names"];

export default {};
