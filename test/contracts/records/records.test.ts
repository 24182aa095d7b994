import { describeRecordsContract } from "./records.contract.ts";
import { RECORDS_UNDER_TEST } from "./records-under-test.ts";

for (const records of RECORDS_UNDER_TEST) describeRecordsContract(records);
